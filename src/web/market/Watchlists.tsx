/** Tokens that the reader put on watchlists, with their figures. */
import { type Watchlist, FIRST_LIST, useWatchlists } from "../data/watched.ts"
import { useRead } from "../data/useRead.ts"
import { Choice } from "../parts/Choice.tsx"
import { textsOf } from "../parts/Form.tsx"
import { Panel } from "../parts/Panel.tsx"
import { Empty } from "../parts/States.tsx"
import { Table } from "../parts/Table.tsx"
import { columnsOf } from "./columns.tsx"
import { type Line, sorted } from "./ranking.ts"
import { useChangesOf } from "./useLines.ts"
import type { MarketState } from "./useMarketState.ts"
import { EVERY_MS, spans } from "./windows.ts"

/** Figures that facts of a token do not have. */
const unlisted: ReadonlySet<string> = new Set(["trades", "traders"])

/** The tokens of a list as lines. The volume covers 24 hours. */
const useListed = ({ tokens }: Watchlist, columns: ReadonlySet<string>) => {
  const addresses = tokens.map(({ mint }) => mint).join(",")
  const read = useRead("GET /api/v1/tokens", addresses === "" ? null : { query: { addresses } }, EVERY_MS)
  const changeOf = useChangesOf((span) => addresses !== "" && columns.has(span))
  const lines = (read.answer?.data ?? []).flatMap(({ address, facts }): ReadonlyArray<Line> => {
    if (facts === null) {
      return []
    }
    const changes = spans.map(([span]) => [span, changeOf(address, span)])
    return [
      {
        ...facts,
        volumeUsd: facts.volume24hUsd,
        trades: null,
        traders: null,
        changes: Object.fromEntries(changes) as Line["changes"]
      }
    ]
  })
  return { read, lines }
}

const NewList = ({ onAdd }: { readonly onAdd: (name: string) => void }) => {
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    onAdd(textsOf(event)("name"))
    if (event.currentTarget instanceof HTMLFormElement) {
      event.currentTarget.reset()
    }
  }
  return (
    <form class="row" onSubmit={submit}>
      <input name="name" aria-label="Name of a new list" placeholder="New list" maxLength={24} autocomplete="off" />
      <button type="submit">Add</button>
    </form>
  )
}

const Listed = ({ list, state }: { readonly list: Watchlist; readonly state: MarketState }) => {
  const { lines, read } = useListed(list, state.columns)
  const columns = new Set(Array.from(state.columns).filter((key) => !unlisted.has(key)))
  if (list.tokens.length === 0) {
    return <Empty>No token is on this list. The star beside a token puts it here.</Empty>
  }
  return (
    <Panel title={list.name} read={read} everyMs={EVERY_MS} rows={list.tokens.length}>
      {() => (
        <Table
          isDense
          caption="Volume of the last 24 hours."
          columns={columnsOf(columns, list.name)}
          rows={sorted(lines, state.sorting)}
          keyOf={({ token }) => token.address}
          sorting={state.sorting}
          onSort={state.setSorting}
          empty="The tokens of this list are being loaded."
        />
      )}
    </Panel>
  )
}

/** The watchlists. The address names the one that is shown. */
export const Watchlists = ({ state }: { readonly state: MarketState }) => {
  const { addList, lists, removeList } = useWatchlists()
  const shown = lists.find(({ name }) => name === state.list) ?? lists[0]
  if (shown === undefined) {
    return null
  }
  const remove = () => {
    removeList(shown.name)
    state.setList("")
  }
  return (
    <>
      <div class="row controls">
        <Choice
          label="Watchlist"
          options={lists.map(({ name, tokens }) => [name, `${name} ${tokens.length}`] as const)}
          value={shown.name}
          onChange={state.setList}
        />
        <NewList
          onAdd={(name) => {
            addList(name)
            state.setList(name.trim())
          }}
        />
        {shown.name !== FIRST_LIST && (
          <button type="button" class="danger" onClick={remove}>
            Remove this list
          </button>
        )}
      </div>
      <Listed key={shown.name} list={shown} state={state} />
    </>
  )
}
