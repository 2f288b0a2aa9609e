"""The words for what happened: the one place where events become English."""
