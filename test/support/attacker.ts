/** A hostile site on this machine: another origin than the service, and the same site for cookies. */
import { Effect, type Scope } from "effect"
import { createServer } from "node:http"

/** Starts a site that answers every path with this document; its address. */
export const attackerSite = (html: string): Effect.Effect<string, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<{ readonly url: string; readonly stop: () => void }>((resume) => {
        const server = createServer((_, response) => {
          response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(html)
        })
        server.listen(0, "127.0.0.1", () => {
          const address = server.address()
          const port = typeof address === "object" ? address?.port : null
          const stop = () => {
            server.closeAllConnections()
            server.close()
          }
          resume(Effect.succeed({ url: `http://127.0.0.1:${port}`, stop }))
        })
      }),
      ({ stop }) => Effect.sync(stop)
    ),
    ({ url }) => url
  )
