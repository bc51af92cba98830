/** How often and for how long a wallet won. */
import type { Answer } from "../data/contract.ts"
import { useRead } from "../data/useRead.ts"
import { Amount } from "../parts/Amount.tsx"
import { Facts } from "../parts/Facts.tsx"
import { TokenLink } from "../parts/Links.tsx"
import { Empty, Shown } from "../parts/States.tsx"
import { ageWords } from "../parts/words.ts"

type Performance = NonNullable<Answer<"GET /api/v1/wallets/:wallet/performance">["data"]["results"]>
type Closed = Performance["best"]

const READ_MS = 60_000

const Extreme = ({ of: position }: { readonly of: Closed }) =>
  position === null ? (
    <span class="soft">none known</span>
  ) : (
    <>
      <Amount of={position.realized} unit="usd" signed short /> <TokenLink mint={position.mint} />
    </>
  )

const streakWords = ({ current, longestLost, longestWon }: Performance["streaks"]): string => {
  const now = current === 0 ? "none now" : `${Math.abs(current)} ${current > 0 ? "won" : "lost"} now`
  return `${longestWon} won, ${longestLost} lost; ${now}`
}

/** Results, or why there are none. */
const All = ({ of: results }: { readonly of: Performance }) =>
  results.known === 0 ? (
    <Empty>
      {results.closed === 0
        ? "No position is closed yet. Win rate, best and worst show here once one is."
        : `${results.closed} positions are closed, and what they cost is not in the record: they have no known result.`}
    </Empty>
  ) : (
    <Known of={results} />
  )

const Known = ({ of: results }: { readonly of: Performance }) => (
  <Facts
    of={[
      [
        "Win rate",
        <>
          <Amount of={results.winRatePct} unit="percent" short why="no closed position has a known result" />
          <span class="under">
            {results.won} of {results.known} closed
          </span>
        </>
      ],
      ["Best", <Extreme of={results.best} />],
      ["Worst", <Extreme of={results.worst} />],
      [
        "Held for",
        results.holdMs.median === null ? (
          <span class="soft">not known</span>
        ) : (
          `${ageWords(results.holdMs.median)} in the median`
        )
      ],
      ["Longest rows", streakWords(results.streaks)],
      [
        "Largest fall",
        <Amount of={results.drawdown?.usd ?? null} unit="usd" short why="the profit of a day is unknown" />
      ]
    ]}
  />
)

/** Results of the closed positions. */
export const Results = ({ wallet }: { readonly wallet: string }) => {
  const read = useRead("GET /api/v1/wallets/:wallet/performance", { path: { wallet } }, READ_MS)
  return (
    <section class="card" aria-labelledby="results">
      <h2 id="results">Closed positions</h2>
      <Shown read={read} what="its results" rows={5}>
        {({ data: { results } }) =>
          results === null ? <Empty>No trade of this wallet is stored.</Empty> : <All of={results} />
        }
      </Shown>
    </section>
  )
}
