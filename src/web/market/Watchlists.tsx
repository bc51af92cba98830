/** Tokens that the reader put on watchlists, with their figures. */
import { type Watchlist, FIRST_LIST, useWatchlists } from "../data/watched.ts"
import { useRead } from "../data/useRead.ts"
import { Choice } from "../parts/Choice.tsx"
import { textsOf } from "../parts/Form.tsx"
import { Panel } from "../parts/Panel.tsx"
import { Empty } from "../parts/States.tsx"
import { Table } from "../parts/Table.tsx"
import { columnsOf } from "./columns.tsx"
import { type Line, sorted, statisticOf } from "./ranking.ts"
import { useFigures } from "./useLines.ts"
import type { MarketState } from "./useMarketState.ts"
import { EVERY_MS, spans } from "./windows.ts"

/** Figures that the facts of a token have. */
const factual: ReadonlySet<string> = new Set(["price", "liquidity", "cap"])

/** The tokens of a list as lines. Figures of trades are of the chosen window. */
const useListed = ({ tokens }: Watchlist, { columns, span }: MarketState) => {
  const mints = tokens.map(({ mint }) => mint)
  const addresses = mints.join(",")
  const read = useRead("GET /api/v1/tokens", addresses === "" ? null : { query: { addresses } }, EVERY_MS)
  const figures = useFigures(mints, columns, span, (key) => factual.has(key))
  const lines = (read.answer?.data ?? []).flatMap(({ address, facts }): ReadonlyArray<Line> => {
    if (facts === null) {
      return []
    }
    const figureOf = (key: string) => figures(address, statisticOf(key, span))
    return [
      {
        ...facts,
        volumeUsd: figureOf("volume"),
        trades: figureOf("trades"),
        traders: figureOf("traders"),
        changes: Object.fromEntries(spans.map(([each]) => [each, figureOf(each)])) as Line["changes"],
        more: Object.fromEntries(Array.from(columns, (key) => [key, figureOf(key)]))
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
  const { lines, read } = useListed(list, state)
  if (list.tokens.length === 0) {
    return <Empty>No token is on this list. The star beside a token puts it here.</Empty>
  }
  return (
    <Panel title={list.name} read={read} everyMs={EVERY_MS} rows={list.tokens.length}>
      {() => (
        <Table
          isDense
          caption="Tokens of the list"
          columns={columnsOf(state.columns, list.name)}
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
