/** Profit of a wallet, and how many of its trades the figures rest on. */
import type { Answer } from "../data/contract.ts"
import { Amount } from "../parts/Amount.tsx"
import { Facts } from "../parts/Facts.tsx"
import { Empty } from "../parts/States.tsx"
import { Table } from "../parts/Table.tsx"
import { timeText } from "../parts/words.ts"
import { knownPart } from "./knownPart.ts"

type Summary = NonNullable<Answer<"GET /api/v1/wallets/:wallet/positions">["data"]["summary"]>
type Share = Summary["historyCoverage"]["solana"]["costBasis"]

const COST = "the cost or price of something sold or held is unknown"

const shareWords = ({ known, total }: Share): string => (total === null ? `${known}` : `${known} of ${total}`)

const exclusions: Readonly<Record<string, string>> = {
  transfers: "transfers",
  fees: "network fees",
  pre_window_inventory: "what was held before",
  unobserved_assets: "tokens that the wallet did not trade"
}

const sums = [
  ["Total", "total"],
  ["Realized", "realized"],
  ["Unrealized", "unrealized"]
] as const

/** Sums over the units with a known cost, and beside them the strict sums, which are unknown once any part is. */
const Sums = ({ of: { known, wallet } }: { readonly of: Summary }) => (
  <Table
    caption="Profit in dollars"
    columns={[
      { name: "Profit", cell: ([name]) => name },
      {
        name: "Units of known cost",
        isNumber: true,
        cell: ([, key]) => (
          <Amount of={wallet[key] ?? knownPart(known[key])} unit="usd" signed why="no cost or price of it is known" />
        )
      },
      {
        name: "All units",
        isNumber: true,
        cell: ([, key]) => <Amount of={wallet[key]} unit="usd" signed why={COST} />
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

/** Realized, unrealized and total profit. A strict figure is null when any part of it is unknown. */
export const Made = ({ of: summary }: { readonly of: Summary | null }) => {
  if (summary === null) {
    return <Empty>No trade of this wallet is stored. It may have traded before the stored history begins.</Empty>
  }
  const { costBasis, exclusions: left, fromMs, observedEvents, throughMs, valuation } = summary.historyCoverage.solana
  const isKnown = sums.some(([, key]) => summary.known[key] !== null || summary.wallet[key] !== null)
  return (
    <div class="stack">
      {isKnown ? (
        <Sums of={summary} />
      ) : (
        <p>
          The profit is unknown: this wallet held its tokens before the record begins, so what they cost was not seen.
          Sales of what it bought since then will show here.
        </p>
      )}
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
        Average cost over the swaps seen
        {fromMs !== null && throughMs !== null && ` from ${timeText(fromMs)} to ${timeText(throughMs)}`}, not over the
        whole life of the wallet. An unknown part is never counted as zero.
        {left.length > 0 &&
          ` Not counted: ${left.map((each) => exclusions[each] ?? each.replaceAll("_", " ")).join(", ")}.`}
      </p>
    </div>
  )
}
