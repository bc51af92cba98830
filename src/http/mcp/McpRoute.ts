/**
 * `/mcp`: the reads of the contract as tools of the Model Context Protocol over streamable HTTP, and the documents as
 * resources. A tool call becomes the request that it stands for, with the caller's key: same admission, budgets and
 * answers.
 */
import { Context, Effect, Layer } from "effect"
import { McpProtocol, McpSchema, McpServer } from "effect/ai"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { answerBytes, type ReadTool } from "./tools.ts"
import { listLength, showAnswer, type ShownAnswer } from "./answerText.ts"
import { addDocuments } from "./documents.ts"
import { guardSessions } from "./guardSessions.ts"
import { answerOf, InnerApp } from "../middleware/innerRequests.ts"
import { MCP_PATH } from "./paths.ts"
import { addPrompts } from "./prompts.ts"
import { argumentFault } from "./toolArguments.ts"
import { tools } from "./toolCalls.ts"

const INSTRUCTIONS =
  "Solana market data, wallets, quotes and perps. Most tools take addresses: begin with search_tokens. Amounts are integers of atomic units as text. Each number states how well it is " +
  "known: `status` known, partial, stale or unavailable, with its coverage; null means unknown, never zero. Send the key as " +
  "Authorization: Bearer or X-API-Key. The reference is in the resources, from fathom:///llms.txt on. " +
  "This list is the usual dozen; the address of the server with ?tools=all, or ?tools=usual,wallets,perps, has more."

/** The parsed body of an answer; its text when it is not JSON. */
const bodyOf = (response: HttpServerResponse.HttpServerResponse): Effect.Effect<unknown> =>
  Effect.promise(async () => {
    const text = await HttpServerResponse.toWeb(response).text()
    const isJson = response.headers["content-type"]?.startsWith("application/json") === true
    return isJson ? (JSON.parse(text) as unknown) : text
  })

const result = (text: string, isError: boolean) =>
  new McpSchema.CallToolResult({ content: [McpSchema.TextContent.make({ text })], isError })

/** The text for a model, and the same in parts for programs. */
const answered = ({ known, leftOut, shown, text }: ShownAnswer) =>
  new McpSchema.CallToolResult({
    content: [McpSchema.TextContent.make({ text })],
    isError: false,
    structuredContent: { ...(known !== "" && { known }), ...shown, ...(leftOut !== "" && { leftOut }) }
  })

interface Problem {
  readonly error: { readonly code: string; readonly message: string }
}

const isProblem = (value: unknown): value is Problem => typeof value === "object" && value !== null && "error" in value

/** A rejection in one line: code, message, and when to try again. */
const refusal = (status: number, body: unknown, retryAfter: string | null): string => {
  const said = isProblem(body) ? `${body.error.code}: ${body.error.message}` : "The service failed."
  return `${status} ${said}${retryAfter === null ? "" : ` Try again in ${retryAfter} s.`}`
}

const numberOr = (value: unknown, byDefault: number): number => (typeof value === "number" ? value : byDefault)

const call = Effect.fnUntraced(function* (tool: ReadTool, args: Readonly<Record<string, unknown>>) {
  const { app } = yield* InnerApp
  const outer = yield* HttpServerRequest.HttpServerRequest
  if (app === null) {
    return result("503 The service is starting.", true)
  }
  const fault = argumentFault(tool, args)
  if (fault !== null) {
    return result(`400 invalid_request: ${fault}`, true)
  }
  const response = yield* answerOf(app, outer, tool.requestOf(args))
  const { headers, status } = response
  const body = yield* bodyOf(response)
  if (status >= 400) {
    return result(refusal(status, body, headers["retry-after"] ?? null), true)
  }
  const [maxBytes, fromElement] = [numberOr(args["maxBytes"], answerBytes.usual), numberOr(args["fromElement"], 0)]
  const elements = listLength(body)
  return fromElement > 0 && fromElement >= elements
    ? result(`400 invalid_request: fromElement is out of range: the longest list has ${elements} elements.`, true)
    : answered(showAnswer(body, { maxBytes, fromElement }))
})

const registrations = Layer.effectDiscard(
  Effect.gen(function* () {
    const server = yield* McpServer.McpServer
    const inner = yield* InnerApp
    yield* addDocuments
    yield* addPrompts
    for (const tool of tools().values()) {
      yield* server.addTool({
        tool: new McpSchema.Tool({
          name: tool.name,
          description: tool.description,
          inputSchema: tool.inputSchema,
          ...(tool.outputSchema !== undefined && { outputSchema: tool.outputSchema }),
          annotations: { readOnlyHint: true, openWorldHint: true }
        }),
        annotations: Context.empty(),
        handle: (args: Readonly<Record<string, unknown>> | undefined) =>
          Effect.contextWith((services: Context.Context<never>) =>
            call(tool, args ?? {}).pipe(
              Effect.provideService(InnerApp, inner),
              Effect.provideService(
                HttpServerRequest.HttpServerRequest,
                Context.getUnsafe(
                  services as Context.Context<HttpServerRequest.HttpServerRequest>,
                  HttpServerRequest.HttpServerRequest
                )
              ),
              Effect.scoped
            )
          )
      })
    }
  })
)

/** The endpoint. Requests from other origins are rejected, so that a page elsewhere cannot use it. */
export const layer = McpServer.layerHttp({
  name: "fathom",
  version: "0.1.0",
  instructions: INSTRUCTIONS,
  path: MCP_PATH,
  protocols: [McpProtocol.v2025_11_25, McpProtocol.v2025_06_18, McpProtocol.v2025_03_26],
  allowSessionTermination: true,
  allowSubscriptions: false,
  registrations
}).pipe(Layer.provide(guardSessions.layer), Layer.orDie)
