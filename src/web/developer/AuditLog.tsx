import { send, urlOf } from "../data/request.ts"
import { type Page, usePages } from "../data/usePages.ts"
import { PagedTable } from "../parts/More.tsx"
import { timeText } from "../parts/words.ts"
import type { ManagedKey } from "./keys.ts"

/** One change of one key. */
interface AuditEntry {
  readonly atMs: number
  readonly actor: string
  readonly action: string
  readonly keyId: string
  readonly address: string | null
  readonly detail: string | null
}

const actors: Readonly<Record<string, string>> = {
  session: "the app",
  command: "the command line",
  start: "the start of the service",
  key: "a request with the key"
}

const readAudit = async (cursor: string | undefined, signal: AbortSignal | undefined) =>
  (await send("GET", urlOf("GET /api/v1/account/audit", {}, { cursor }), { signal })) as Page<AuditEntry>

const idOf = ({ action, atMs, keyId }: AuditEntry): string => `${atMs} ${action} ${keyId}`

/** Changes of the account's keys, newest first. A new `version` reads them again after a change on this page. */
export const AuditLog = ({ keys, version }: { readonly keys: ReadonlyArray<ManagedKey>; readonly version: number }) => {
  const pages = usePages(`audit ${version}`, readAudit, idOf)
  const names = new Map(keys.map(({ id, name }) => [id, name]))
  return (
    <section class="stack" aria-labelledby="audit">
      <h2 id="audit">Changes of keys</h2>
      <PagedTable
        pages={pages}
        what="the changes of keys"
        height={4}
        caption="Kept for a year, newest first"
        keyOf={idOf}
        empty="No key has been changed yet."
        columns={[
          { name: "Time", cell: ({ atMs }) => timeText(atMs) },
          { name: "Change", cell: ({ action }) => action },
          { name: "Key", cell: ({ keyId }) => <bdi>{names.get(keyId) ?? keyId}</bdi> },
          { name: "By", cell: ({ actor }) => actors[actor] ?? actor },
          { name: "From", cell: ({ address }) => address ?? "–" },
          { name: "Details", cell: ({ detail }) => <bdi class="words">{detail ?? "–"}</bdi> }
        ]}
      />
    </section>
  )
}
