import type { Read } from "../data/useRead.ts"
import { Figure, Units } from "../parts/Figure.tsx"
import { Amount } from "../parts/Amount.tsx"
import { PoolName } from "../parts/Links.tsx"
import { Panel } from "../parts/Panel.tsx"
import { Empty } from "../parts/States.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { ageWords } from "../parts/words.ts"
import { counterpartOf } from "./counterpart.ts"
import { type Pool, POOLS_EVERY_MS, type PoolsAnswer } from "./usePools.ts"

const Reserve = ({
  decimals,
  mint,
  units
}: {
  readonly units: string | null
  readonly mint: string
  readonly decimals: number | null
}) =>
  units === null ? (
    <span title="Concentrated liquidity has no reserve on one side">–</span>
  ) : (
    <Units amount={units} decimals={decimals} symbol={counterpartOf(mint)?.symbol ?? ""} />
  )

const columnsOf = (decimals: number | null): ReadonlyArray<Column<Pool>> => [
  { name: "Pool", cell: ({ dex, pool }) => <PoolName dex={dex} pool={pool} /> },
  {
    name: "Liquidity",
    isNumber: true,
    cell: ({ liquidityUsd }) => <Amount of={liquidityUsd} unit="usd" why="a side has no price" short />
  },
  {
    name: "Token",
    isNumber: true,
    cell: ({ baseMint, baseReserve }) => <Reserve units={baseReserve} mint={baseMint} decimals={decimals} />
  },
  {
    name: "Other side",
    isNumber: true,
    cell: ({ quoteMint, quoteReserve }) => (
      <Reserve units={quoteReserve} mint={quoteMint} decimals={counterpartOf(quoteMint)?.decimals ?? null} />
    )
  },
  { name: "Fee", isNumber: true, cell: ({ feeBps }) => <Amount of={feeBps} unit="bps" why="the fee varies" /> },
  {
    name: "State",
    isNumber: true,
    cell: ({ stateAgeMs, stateSlot }) => (
      <span title={`Slot ${stateSlot}; the chain was last heard ${stateAgeMs} ms before the answer`}>
        {ageWords(stateAgeMs)} old<span class="hidden">, from slot {stateSlot}</span>
      </span>
    )
  }
]

/** The pools of one token, deepest first. */
export const Pools = ({ read }: { readonly read: Read<PoolsAnswer> }) => (
  <Panel title="Pools" read={read} everyMs={POOLS_EVERY_MS} rows={5} isWide>
    {({ data: { pools, token, totalLiquidityUsd } }) =>
      pools.length === 0 ? (
        <Empty>No pool of this token is known.</Empty>
      ) : (
        <>
          <p>
            Total liquidity <Figure of={totalLiquidityUsd} short />
          </p>
          <Table
            caption="Pools, deepest first"
            columns={columnsOf(token.decimals)}
            rows={pools}
            keyOf={({ pool }) => pool}
          />
        </>
      )
    }
  </Panel>
)
