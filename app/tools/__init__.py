"""Tools that answers may call: the program's own, and those of tool servers that speak the Model Context
Protocol. Nothing here decides whether a call is allowed; the user does (`app.connection.call_desk`)."""
