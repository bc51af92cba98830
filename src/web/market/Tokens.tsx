import { useRef, useState } from "preact/hooks"
import { SelectField } from "../parts/Field.tsx"
import { Panel } from "../parts/Panel.tsx"
import { Table } from "../parts/Table.tsx"
import { because } from "../parts/words.ts"
import { ChooseColumns, columnsOf } from "./columns.tsx"
import { inHeldOrder, type Line, sorted } from "./ranking.ts"
import { useLines } from "./useLines.ts"
import { ages, holderLimits, limits, type MarketState, volumes } from "./useMarketState.ts"
import { EVERY_MS } from "./windows.ts"

const ROWS = 50
/** Rows that are reserved until the first answer. */
const RESERVED = 20

const keyOf = ({ token }: Line): string => token.address

/**
 * Keeps the order while the pointer is over the list, so that nothing moves under it. Figures still change. A new
 * `order` counts at once.
 */
const useHeldOrder = (lines: ReadonlyArray<Line>, order: string) => {
  const [held, setHeld] = useState<{ readonly order: string; readonly keys: ReadonlyArray<string> } | null>(null)
  const shown = held?.order === order ? inHeldOrder(lines, keyOf, held.keys) : lines
  const latest = useRef(shown)
  latest.current = shown
  return {
    shown,
    hold: {
      onPointerEnter: () => setHeld({ order, keys: latest.current.map(keyOf) }),
      onPointerLeave: () => setHeld(null)
    }
  }
}

/** What the table does under the pointer, and what it leaves out. */
const Caption = ({ leftOut }: { readonly leftOut: number }) => (
  <>
    <span class="pointer-only">The order stays while the pointer is over the list. </span>
    {leftOut > 0 &&
      `${leftOut} ${leftOut === 1 ? "token is" : "tokens are"} left out, because a value that decides is not known of ${leftOut === 1 ? "it" : "them"}.`}
  </>
)

/** What the list is limited to. */
const Limits = ({ state }: { readonly state: MarketState }) => (
  <div class="row controls">
    <SelectField
      label="Liquidity from"
      name="liquidity"
      options={limits}
      value={state.minLiquidityUsd}
      onChoose={state.setMinLiquidity}
    />
    <SelectField
      label="Volume from"
      name="volume"
      options={volumes}
      value={state.minVolumeUsd}
      onChoose={state.setMinVolume}
    />
    <SelectField
      label="Holders from"
      name="holders"
      options={holderLimits}
      value={state.minHolders}
      onChoose={state.setMinHolders}
    />
    <SelectField label="Age up to" name="age" options={ages} value={state.maxAgeMs} onChoose={state.setMaxAge} />
    <ChooseColumns keys={state.columns} onChange={state.setColumns} />
  </div>
)

/** Tokens of the market: sorted, limited and with the columns that the reader chooses. */
export const Tokens = ({ state }: { readonly state: MarketState }) => {
  const { columns, sorting, span } = state
  const { isLive, lines, read } = useLines(state)
  const { hold, shown } = useHeldOrder(
    sorted(lines, sorting).slice(0, ROWS),
    `${span} ${sorting.key} ${sorting.isDown}`
  )
  return (
    <Panel
      title="Tokens"
      read={read}
      everyMs={EVERY_MS}
      isLive={isLive}
      rows={RESERVED}
      controls={<Limits state={state} />}
    >
      {({ coverage, leftOut }) => (
        <div {...hold}>
          <Table
            isDense
            caption="Tokens of the market"
            note={<Caption leftOut={leftOut} />}
            columns={columnsOf(columns)}
            rows={shown}
            keyOf={keyOf}
            sorting={sorting}
            onSort={state.setSorting}
            empty={`No token reaches these limits in this window${because(coverage)}.`}
          />
        </div>
      )}
    </Panel>
  )
}
