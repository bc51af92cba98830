/** Path of the endpoint for language models. */
export const MCP_PATH = "/mcp"

/** Header that names the session of a message. */
export const SESSION_HEADER = "mcp-session-id"
