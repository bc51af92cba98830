import { Context } from "effect"
import type { RequesterId } from "../../quotes/pools/Turns.ts"
import type { DocumentReason, MetadataDocument } from "../../api/schemas/TokenMetadata.ts"

/** State of one document. */
export interface DocumentState {
  readonly state: "read" | "waiting" | "failed" | "off"
  /** Why the last attempt failed, or why there was none; null when it succeeded. */
  readonly reason: DocumentReason | null
  /** The newest content that was read, whatever failed later; null before the first. */
  readonly document: MetadataDocument | null
  /** Milliseconds since the Unix epoch. */
  readonly fetchedAtMs: number | null
  readonly expiresAtMs: number | null
}

/** Documents behind the URIs of tokens. */
export interface DocumentReads {
  /**
   * The document as it is in memory. Synchronous: a missing or expired document is queued to be read, and requesters
   * take turns.
   */
  readonly documentOf: (uri: string, requester: RequesterId) => DocumentState
  /** The content in memory; null where there is none. Queues nothing. */
  readonly knownOf: (uri: string) => MetadataDocument | null
}

/** The state while documents are not read. */
export const DOCUMENTS_OFF: DocumentState = {
  state: "off",
  reason: "off",
  document: null,
  fetchedAtMs: null,
  expiresAtMs: null
}

/** Documents of tokens; none are read unless provided. */
export const DocumentReader = Context.Reference<DocumentReads>("fathom/tokens/documents/DocumentReader", {
  defaultValue: () => ({ documentOf: () => DOCUMENTS_OFF, knownOf: () => null })
})
