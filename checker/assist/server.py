"""The server: the tools over the Model Context Protocol, by the official SDK.

It uses the SDK's server of messages, which leaves arguments as they came: :mod:`.arguments` alone
says which are admitted.
"""

from __future__ import annotations

import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from checker import resources
from checker.assist import answer as answers
from checker.assist.arguments import TOOLS, described, schema_of
from checker.assist.commands import Commands
from checker.assist.prompts import PROMPTS
from checker.assist.refusals import INTERNAL, Refused
from checker.assist.snapshot import Root
from checker.assist.tools import Tools, new_number

INSTRUCTIONS = (
    "Bivalence checks specs of distributed protocols. Read the resource bivalence://skill first. "
    "Only `outcome` holds or proved, in the world that `claim` names, is a success; unknown and "
    "vacuous are none."
)
PAGES = {"skill": "skill/SKILL", "language": "language", "commands": "commands"}
"""The documents that are resources."""


def make_server(root: Path) -> Server[Any]:
    """Returns the server for the files below ``root``; raises ``OSError`` if that is not a
    folder."""
    held = _Held(Root(root))
    return Server(
        "bivalence",
        version=resources.version(),
        instructions=INSTRUCTIONS,
        lifespan=held.lifespan,
        on_list_tools=held.list_tools,
        on_call_tool=held.call_tool,
        on_list_resources=held.list_resources,
        on_read_resource=held.read_resource,
        on_list_prompts=held.list_prompts,
        on_get_prompt=held.get_prompt,
    )


async def serve(root: Path) -> None:
    """Serves over standard input and output, until the input ends."""
    server = make_server(root)
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


class _Held:
    """The handlers of a server."""

    def __init__(self, root: Root) -> None:
        self._root = root

    @asynccontextmanager
    async def lifespan(self, _: Any) -> AsyncIterator[Tools]:
        """Starts the process that commands are forked from; ends all at the end."""
        commands = Commands()
        try:
            commands.start()
            yield Tools(self._root, commands)
        finally:
            commands.close()

    async def list_tools(self, context: Any, _: Any) -> types.ListToolsResult:
        hints = types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=name,
                    description=described(name),
                    input_schema=schema_of(name),
                    output_schema=answers.schema(),
                    annotations=hints,
                )
                for name in TOOLS
            ]
        )

    async def call_tool(
        self, context: Any, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        tools: Tools = context.lifespan_context
        try:
            return _result(await tools.call(params.name, params.arguments), refused=False)
        except Refused as why:
            return _result(_refusal(why), refused=True)
        except Exception:  # what it is stays here: a text could have anything in it
            number = new_number()
            tools.note(f"{number} {params.name!r}\n{traceback.format_exc()}")
            hidden = Refused(INTERNAL, f"internal error {number}", "the server's log has it")
            return _result(_refusal(hidden), refused=True)

    async def list_resources(self, context: Any, _: Any) -> types.ListResourcesResult:
        named = [*PAGES, *(f"specs/{name}" for name in resources.spec_names())]
        return types.ListResourcesResult(
            resources=[types.Resource(uri=f"bivalence://{name}", name=name) for name in named]
        )

    async def read_resource(
        self, context: Any, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        name = str(params.uri).removeprefix("bivalence://")
        if name in PAGES:
            path = resources.documents() / f"{PAGES[name]}.md"
        elif name.startswith("specs/") and name[6:] in resources.spec_names():
            path = resources.specs() / f"{name[6:]}.bcast"
        else:
            raise MCPError(code=types.INVALID_PARAMS, message="there is no such resource")
        text = path.read_text(encoding="utf-8")
        content = types.TextResourceContents(uri=params.uri, text=text, mime_type="text/plain")
        return types.ReadResourceResult(contents=[content])

    async def list_prompts(self, context: Any, _: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(
            prompts=[types.Prompt(name=name, description=each[0]) for name, each in PROMPTS.items()]
        )

    async def get_prompt(
        self, context: Any, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        if params.name not in PROMPTS:
            raise MCPError(code=types.INVALID_PARAMS, message="there is no such prompt")
        description, text = PROMPTS[params.name]
        content = types.TextContent(type="text", text=text)
        return types.GetPromptResult(
            description=description,
            messages=[types.PromptMessage(role="user", content=content)],
        )


def _refusal(why: Refused) -> answers.Answer:
    problem = answers.Problem(why.code, why.message, hint=why.hint)
    return answers.Answer("unusable", f"Nothing was run: {why.message}.", problems=(problem,))


def _result(answer: answers.Answer, *, refused: bool) -> types.CallToolResult:
    found = answers.fitted(answer)
    text = types.TextContent(type="text", text=answers.text_of(found))
    return types.CallToolResult(content=[text], structured_content=found, is_error=refused)
