import { send } from "../data/request.ts"
import { usePages } from "../data/usePages.ts"
import { Empty, Failed, Shown } from "../parts/States.tsx"
import { Table } from "../parts/Table.tsx"
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
  key: "a request with it"
}

const readAudit = async (cursor: string | undefined, signal?: AbortSignal) => {
  const query = new URLSearchParams(cursor === undefined ? {} : { cursor })
  const { data, nextCursor } = (await send(
    "GET",
    `/api/v1/account/audit?${query}`,
    signal === undefined ? {} : { signal }
  )) as { readonly data: ReadonlyArray<AuditEntry>; readonly nextCursor: string | null }
  return { items: data, nextCursor }
}

const idOf = ({ action, atMs, keyId }: AuditEntry): string => `${atMs} ${action} ${keyId}`

/** Changes of the account's keys, newest first. `version` changes when a key was changed here. */
export const AuditLog = ({ keys, version }: { readonly keys: ReadonlyArray<ManagedKey>; readonly version: number }) => {
  const { items, more, next, read } = usePages(`audit ${version}`, readAudit, idOf)
  const names = new Map(keys.map(({ id, name }) => [id, name]))
  return (
    <section class="stack" aria-labelledby="audit">
      <h2 id="audit">Changes of keys</h2>
      <Shown read={read} what="the changes of keys" rows={4}>
        {() =>
          items.length === 0 ? (
            <Empty>No key was changed yet.</Empty>
          ) : (
            <Table
              caption="Kept for a year, the newest first"
              rows={items}
              keyOf={idOf}
              columns={[
                { name: "Time", cell: ({ atMs }) => timeText(atMs) },
                { name: "Change", cell: ({ action }) => action },
                { name: "Key", cell: ({ keyId }) => <bdi>{names.get(keyId) ?? keyId}</bdi> },
                { name: "By", cell: ({ actor }) => actors[actor] ?? actor },
                { name: "From", cell: ({ address }) => address ?? "–" },
                { name: "Details", cell: ({ detail }) => <bdi class="words">{detail ?? "–"}</bdi> }
              ]}
            />
          )
        }
      </Shown>
      {next.failure !== null && <Failed failure={next.failure} />}
      {more !== null && (
        <p>
          <button type="button" disabled={next.isBusy} onClick={more}>
            Older changes
          </button>
        </p>
      )}
    </section>
  )
}
