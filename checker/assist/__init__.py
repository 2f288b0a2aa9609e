"""The tool for assistants: commands as tools of the Model Context Protocol, with
one kind of answer."""
