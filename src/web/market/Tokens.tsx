import { useRef, useState } from "preact/hooks"
import { SelectField } from "../parts/Field.tsx"
import { Panel } from "../parts/Panel.tsx"
import { Table } from "../parts/Table.tsx"
import { because } from "../parts/words.ts"
import { ChooseColumns, columnsOf } from "./columns.tsx"
import { inHeldOrder, type Line, type Movement, rankOf, sorted } from "./ranking.ts"
import { useLines } from "./useLines.ts"
import { limits, type MarketState, volumes } from "./useMarketState.ts"
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

const captionOf = ({ excluded }: Movement["meta"]): string =>
  excluded.unknownRank === 0
    ? "The order stays while the pointer is over the list."
    : `The order stays while the pointer is over the list. ${excluded.unknownRank} tokens of unknown value are left out.`

/** Tokens of the market: sorted, limited and with the columns that the reader chooses. */
export const Tokens = ({ state }: { readonly state: MarketState }) => {
  const { columns, minLiquidityUsd, minVolumeUsd, sorting, span } = state
  const rank = rankOf(sorting, span)
  const { isLive, lines, read } = useLines({ span, rank, minLiquidityUsd, minVolumeUsd, columns })
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
      controls={
        <div class="row controls">
          <SelectField
            label="Liquidity from"
            name="liquidity"
            options={limits}
            value={minLiquidityUsd}
            onChoose={state.setMinLiquidity}
          />
          <SelectField
            label="Volume from"
            name="volume"
            options={volumes}
            value={minVolumeUsd}
            onChoose={state.setMinVolume}
          />
          <ChooseColumns keys={columns} onChange={state.setColumns} />
        </div>
      }
    >
      {({ meta }) => (
        <div {...hold}>
          <Table
            isDense
            caption={captionOf(meta)}
            columns={columnsOf(columns)}
            rows={shown}
            keyOf={keyOf}
            sorting={sorting}
            onSort={state.setSorting}
            empty={`No token reaches these limits in this window${because(meta.coverage)}.`}
          />
        </div>
      )}
    </Panel>
  )
}
