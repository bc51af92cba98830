/** Serves the documents as resources: `/llms.txt`, the pages that it lists, and the changes of the contract. */
import { Context, Effect } from "effect"
import { McpSchema, McpServer } from "effect/ai"
import { changelog } from "../pages/changelog.ts"
import { documents, type ServedDocument } from "../pages/ReferencePages.ts"

/**
 * Address of a resource by its path. Links between the documents are paths, so they lead from one address to another.
 */
const addressOf = (path: string): string => `fathom://${path}`

const changes = (): ServedDocument => ({
  path: "/changelog",
  about: "Dated changes of the contract.",
  mediaType: "text/markdown",
  text: changelog()
})

/** Adds every document to the server. */
export const addDocuments = Effect.gen(function* () {
  const server = yield* McpServer.McpServer
  for (const { about, mediaType, path, text } of [...documents(), changes()]) {
    const uri = addressOf(path)
    yield* server.addResource({
      resource: new McpSchema.Resource({
        uri,
        name: path.slice(path.lastIndexOf("/") + 1),
        description: about,
        mimeType: mediaType,
        size: Buffer.byteLength(text)
      }),
      annotations: Context.empty(),
      handle: Effect.succeed({ contents: [{ uri, mimeType: mediaType, text }] })
    })
  }
})
