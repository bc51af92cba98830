import { useRead } from "../data/useRead.ts"
import { When } from "../parts/Links.tsx"
import { Panel } from "../parts/Panel.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { useTitle } from "../parts/useTitle.ts"
import { ageWords } from "../parts/words.ts"
import { type DecodingJson, hourWords, shareWords } from "./decoding.ts"
import { isUnasked, nameOf, noteOf, type SourceJson, stateWords } from "./sources.ts"
import "../style/market.css"

const EVERY_MS = 3000

const columns: ReadonlyArray<Column<SourceJson>> = [
  {
    name: "Source",
    cell: ({ source }) => {
      const [name, purpose] = nameOf(source)
      return (
        <span class="token" title={source}>
          {name}
          {purpose !== null && <span class="soft">{purpose}</span>}
        </span>
      )
    }
  },
  {
    name: "State",
    cell: (source) => <span class={isUnasked(source) ? "soft" : `state ${source.status}`}>{stateWords(source)}</span>
  },
  {
    name: "Lag",
    isNumber: true,
    cell: ({ lagMs }) => (lagMs === null ? "–" : <span title={`${lagMs} ms`}>{ageWords(lagMs)}</span>)
  },
  { name: "Last heard", isNumber: true, cell: ({ observedAtMs }) => <When atMs={observedAtMs} /> },
  { name: "Node", cell: ({ node }) => node ?? "" },
  {
    name: "Gaps and progress",
    cell: (source) => {
      const notes = noteOf(source)
      return notes.length === 0 ? "" : notes.join(", ")
    }
  }
]

/** Whether the service is ready, in one sentence. */
const Readiness = () => {
  const read = useRead("GET /readyz", {}, EVERY_MS)
  const { answer, failure } = read
  if (failure !== null) {
    return (
      <p class="state unavailable" role="status">
        Not ready: {failure.message}
      </p>
    )
  }
  if (answer === null) {
    return <p class="soft">Checking whether the service is ready.</p>
  }
  const behind = answer.lagging.map(({ source }) => nameOf(source)[0])
  return (
    <p class={behind.length === 0 ? "state known" : "state stale"} role="status">
      {behind.length === 0 ? "Ready: every source is current." : `Ready, but behind with ${behind.join(", ")}.`}
    </p>
  )
}

const decodingColumns: ReadonlyArray<Column<DecodingJson>> = [
  {
    name: "Program",
    cell: ({ detail, dex }) => (
      <span class="token">
        {dex}
        {detail !== null && <span class="state stale">{detail}</span>}
      </span>
    )
  },
  { name: "Confirmed", isNumber: true, cell: ({ confirmedShare }) => shareWords(confirmedShare) },
  { name: "Swaps in 10 min", isNumber: true, cell: ({ swaps }) => swaps },
  { name: "Newest hour", cell: ({ hours: [newest] }) => (newest === undefined ? "–" : hourWords(newest)) }
]

/** Every source with its state, lag, gaps and progress. */
export const Status = () => {
  useTitle("Status")
  const read = useRead("GET /freshness", {}, EVERY_MS)
  return (
    <div class="stack">
      <h1 class="plain-head">Status</h1>
      <Readiness />
      <Panel title="Sources" read={read} everyMs={EVERY_MS} rows={46}>
        {({ data }) => (
          <Table
            isDense
            caption="A stale source has been silent for longer than it should."
            columns={columns}
            rows={data}
            keyOf={({ source }) => source}
            empty="No source has reported yet."
          />
        )}
      </Panel>
      <Panel title="Decoded swaps" read={read} everyMs={EVERY_MS} rows={12}>
        {({ data }) => (
          <Table
            isDense
            caption="A swap is confirmed when the program's event or the balances of its vaults agree with what was decoded."
            columns={decodingColumns}
            rows={data.flatMap(({ decoding }) => decoding ?? [])}
            keyOf={({ dex }) => dex}
            empty="No swap has been seen yet."
          />
        )}
      </Panel>
    </div>
  )
}
