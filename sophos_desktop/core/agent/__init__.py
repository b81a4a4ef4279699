"""The LangGraph agent: the only place that knows LangGraph and LangChain."""
