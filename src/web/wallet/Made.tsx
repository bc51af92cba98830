/** Profit of a wallet, and the trades it rests on. */
import type { Answer } from "../data/contract.ts"
import { Amount } from "../parts/Amount.tsx"
import { Facts } from "../parts/Facts.tsx"
import { Empty } from "../parts/States.tsx"
import { Table } from "../parts/Table.tsx"
import { timeText } from "../parts/words.ts"

type Summary = NonNullable<Answer<"GET /api/v1/wallets/:wallet/positions">["data"]["summary"]>
type Share = Summary["historyCoverage"]["solana"]["costBasis"]

const COST = "a cost or a price of something sold or held is not known"

const shareWords = ({ known, total }: Share): string => (total === null ? `${known}` : `${known} of ${total}`)

const exclusions: Readonly<Record<string, string>> = {
  transfers: "transfers",
  fees: "network fees",
  pre_window_inventory: "what was held before",
  unobserved_assets: "tokens that were not traded"
}

const sums = [
  ["Total", "total"],
  ["Realized", "realized"],
  ["Unrealized", "unrealized"]
] as const

/** Strict sums, and beside them those over the units of which the cost is known. */
const Sums = ({ of: { known, wallet } }: { readonly of: Summary }) => (
  <Table
    caption="Profit in dollars"
    columns={[
      { name: "Profit", cell: ([name]) => name },
      {
        name: "All units",
        isNumber: true,
        cell: ([, key]) => <Amount of={wallet[key]} unit="usd" signed why={COST} />
      },
      {
        name: "Units of known cost",
        isNumber: true,
        cell: ([, key]) => <Amount of={known[key]} unit="usd" signed why="a price is not known" />
      }
    ]}
    rows={sums}
    keyOf={([name]) => name}
  />
)

/** A fraction as a percentage. */
const Part = ({ of: fraction }: { readonly of: string | null }) => (
  <Amount of={fraction === null ? null : Number(fraction) * 100} unit="percent" />
)

/** Realized, unrealized and total profit, strictly: null once any part of it is unknown. */
export const Made = ({ of: summary }: { readonly of: Summary | null }) => {
  if (summary === null) {
    return <Empty>No trade of this wallet is held. That is no statement about what it did elsewhere.</Empty>
  }
  const { costBasis, exclusions: left, fromMs, observedEvents, throughMs, valuation } = summary.historyCoverage.solana
  return (
    <div class="stack">
      <Sums of={summary} />
      <Facts
        of={[
          ["Trades counted", observedEvents],
          ["Positions of known cost", shareWords(costBasis)],
          ["Open positions with a price", shareWords(valuation)],
          ["Volume of known cost", <Part of={summary.known.volumeShare} />],
          ["Holdings of known cost", <Part of={summary.known.openValueShare} />],
          ["Trades without a price", summary.known.unpricedTrades]
        ]}
      />
      <p class="soft">
        By average cost over the swaps seen
        {fromMs !== null && throughMs !== null && ` from ${timeText(fromMs)} to ${timeText(throughMs)}`}, not over the
        wallet's life. A dash means that a part is not known: it is never counted as zero.
        {left.length > 0 &&
          ` Not counted: ${left.map((each) => exclusions[each] ?? each.replaceAll("_", " ")).join(", ")}.`}
      </p>
    </div>
  )
}
