"""Extensions: engines and exports by name, those of the tool and those that other distributions
declare as entry points; each is imported when it is asked for.
"""
