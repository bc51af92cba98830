/** The reply about the metadata of a token: the part on chain, and the document as far as it is in memory. */
import { COMPLETE, incomplete } from "../domain/Scalar.ts"
import type { Knowledge, TokenRef } from "../api/schemas/Token.ts"
import type { TokenDocument, TokenMetadataView } from "../api/schemas/TokenMetadata.ts"
import type { RequesterId } from "../quotes/pools/Turns.ts"
import type { TokenState } from "./TokenCache.ts"
import type { DocumentReads, DocumentState } from "./documents/DocumentReader.ts"

type Token = TokenState & { readonly _tag: "Token" }

const EMPTY = { name: null, symbol: null, description: null, imageUrl: null, links: null }

const NO_URI: TokenDocument = { state: "none", reason: "no_uri", ...EMPTY, fetchedAtMs: null, expiresAtMs: null }

/** The document while the account that holds its URI has not been read. */
const NOT_READ: TokenDocument = { ...NO_URI, state: "waiting", reason: "waiting" }

const documentOf = ({ document, ...state }: DocumentState): TokenDocument => ({ ...EMPTY, ...document, ...state })

/** Known when everything was read; stale when the newest attempt failed or is overdue. */
const knowledgeOf = (isChainRead: boolean, document: TokenDocument, nowMs: number) => {
  const partial = (reason: Parameters<typeof incomplete>[0]) =>
    ({ status: isChainRead ? "partial" : "unavailable", coverage: incomplete(reason) }) as const
  if (!isChainRead) {
    return partial("not_captured")
  }
  switch (document.state) {
    case "none":
      return { status: "known", coverage: COMPLETE } as const
    case "read":
      return document.reason === null && nowMs < (document.expiresAtMs ?? 0)
        ? ({ status: "known", coverage: COMPLETE } as const)
        : ({ status: "stale", coverage: incomplete("source_stale") } as const)
    case "waiting":
      return partial("backfill_running")
    case "failed":
      return partial("source_gap")
    case "off":
      return partial("not_captured")
  }
}

/** Metadata of the token. A missing or expired document is queued to be read. */
export const metadataReading = (
  { isMetadataRead = true, metadata, observation }: Token,
  token: TokenRef,
  documents: Pick<DocumentReads, "documentOf">,
  { nowMs, requester }: { readonly nowMs: number; readonly requester: RequesterId }
): { readonly data: TokenMetadataView; readonly knowledge: Knowledge } => {
  const uri = metadata?.uri ?? null
  const document = uri !== null ? documentOf(documents.documentOf(uri, requester)) : isMetadataRead ? NO_URI : NOT_READ
  const origin = metadata?.origin ?? null
  return {
    data: {
      token: { ...token, imageUrl: document.imageUrl },
      source: origin?.source ?? null,
      updateAuthority: origin?.updateAuthority ?? null,
      isMutable: origin?.isMutable ?? null,
      uri,
      fields: origin === null ? null : origin.fields.map(([key, value]) => ({ key, value })),
      document
    },
    knowledge: {
      observedAtMs: document.fetchedAtMs ?? observation.observedAtMs,
      ...knowledgeOf(isMetadataRead, document, nowMs)
    }
  }
}
