/** Profit of a wallet, and the trades it rests on. */
import type { Answer } from "../../data/contract.ts"
import { Amount } from "../../parts/Amount.tsx"
import { Facts } from "../../parts/Facts.tsx"
import { Empty } from "../../parts/States.tsx"
import { timeText } from "../../parts/words.ts"

type Row = Answer<"POST /api/v1/wallets/summary">["data"]["wallets"][number]
type Summary = NonNullable<Row["summary"]>
type Share = Summary["historyCoverage"]["solana"]["costBasis"]

const COST = "the cost of something sold or held is not known"

const shareWords = ({ known, total }: Share): string => (total === null ? `${known}` : `${known} of ${total}`)

const exclusions: Readonly<Record<string, string>> = {
  transfers: "transfers",
  fees: "network fees",
  pre_window_inventory: "what was held before",
  unobserved_assets: "tokens that were not traded"
}

/** Realized, unrealized and total profit, strictly: null once any part of it is unknown. */
export const Made = ({ of: summary }: { readonly of: Summary | null }) => {
  if (summary === null) {
    return <Empty>No trade of this wallet is held. That is no statement about what it did elsewhere.</Empty>
  }
  const { costBasis, fromMs, observedEvents, throughMs, valuation, ...rest } = summary.historyCoverage.solana
  return (
    <div class="stack">
      <Facts
        of={[
          ["Realized", <Amount of={summary.wallet.realized} unit="usd" signed why={COST} />],
          [
            "Unrealized",
            <Amount
              of={summary.wallet.unrealized}
              unit="usd"
              signed
              why="a cost or a price of something held is not known"
            />
          ],
          ["Total", <Amount of={summary.wallet.total} unit="usd" signed why={COST} />],
          ["Trades counted", observedEvents],
          ["Positions of known cost", shareWords(costBasis)],
          ["Open positions with a price", shareWords(valuation)]
        ]}
      />
      <p class="soft">
        By average cost over the swaps seen
        {fromMs !== null && throughMs !== null && ` from ${timeText(fromMs)} to ${timeText(throughMs)}`}, not over the
        wallet's life. A dash means that a part is not known: it is never counted as zero.
        {rest.exclusions.length > 0 &&
          ` Not counted: ${rest.exclusions.map((each) => exclusions[each] ?? each.replaceAll("_", " ")).join(", ")}.`}
      </p>
    </div>
  )
}
