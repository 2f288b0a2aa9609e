"""What an editor asks of a spec, and the language server that answers (extra ``editor``)."""
