# syntax=docker/dockerfile:1
# The command in an image, without Java:
#   docker build -t bivalence .        with extras: --build-arg EXTRAS=[arrow,mcp]
#   docker run --rm -v "$PWD:/work" bivalence check spec.bcast
FROM python:3.12-slim AS build
COPY . /source
RUN python -m pip wheel --no-cache-dir --no-deps --wheel-dir /wheels /source

FROM python:3.12-slim
ARG EXTRAS=""
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    python -m pip install --no-cache-dir "$(echo /wheels/bivalence-*.whl)${EXTRAS}"
RUN useradd --create-home bivalence
USER bivalence
WORKDIR /work
ENTRYPOINT ["bivalence"]
CMD ["--help"]
