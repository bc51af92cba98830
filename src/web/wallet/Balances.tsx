/** What a wallet holds now: its value, and every token. */
import type { Answer } from "../data/contract.ts"
import type { Read } from "../data/useRead.ts"
import { Amount } from "../parts/Amount.tsx"
import { Units } from "../parts/Figure.tsx"
import { TokenLink, When } from "../parts/Links.tsx"
import { directionOf } from "../parts/numbers.ts"
import { Shown } from "../parts/States.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { usePaged } from "../parts/usePaged.tsx"

export type BalancesAnswer = Answer<"GET /api/v1/wallets/:wallet/balances">
type Balances = BalancesAnswer["data"]

const SOL = "So11111111111111111111111111111111111111112"
const SOL_DECIMALS = 9
const ROWS = 25

/** A token or SOL. */
interface Holding extends Pick<Balances["tokens"][number], "decimals" | "markAtMs" | "markUsd" | "mint" | "valueUsd"> {
  readonly amount: string
}

const NO_PRICE = "its price is unknown"

/** The SOL; none in the past. */
const solOf = ({ sol }: Balances): ReadonlyArray<Holding> => {
  if (sol === null) {
    return []
  }
  const { lamports, wrappedLamports, ...mark } = sol
  const amount = String(BigInt(lamports) + BigInt(wrappedLamports))
  return [{ mint: SOL, decimals: SOL_DECIMALS, amount, ...mark }]
}

/** SOL among the tokens, most valuable first, unknown values last. */
const holdingsOf = (balances: Balances): ReadonlyArray<Holding> =>
  [...solOf(balances), ...balances.tokens].toSorted(
    (one, other) => Number(other.valueUsd ?? -1) - Number(one.valueUsd ?? -1)
  )

/** The part of the known value in percent. Only a bar is drawn with it. */
const partOf = (valueUsd: string | null, whole: string): number =>
  valueUsd === null || Number(whole) === 0 ? 0 : (100 * Number(valueUsd)) / Number(whole)

const columnsOf = ({ knownValueUsd }: Balances["sums"]): ReadonlyArray<Column<Holding>> => [
  { name: "Token", cell: ({ mint }) => <TokenLink mint={mint} {...(mint === SOL ? { symbol: "SOL" } : {})} /> },
  {
    name: "Holds",
    isNumber: true,
    cell: ({ amount, decimals }) => <Units amount={amount} decimals={decimals} aligned />
  },
  { name: "Price", isNumber: true, cell: ({ markUsd }) => <Amount of={markUsd} unit="usd" why={NO_PRICE} /> },
  { name: "Value", isNumber: true, cell: ({ valueUsd }) => <Amount of={valueUsd} unit="usd" why={NO_PRICE} short /> },
  {
    name: "Share of the known value",
    cell: ({ valueUsd }) => (
      <span class="part-bar" aria-hidden="true">
        <span style={{ width: `${partOf(valueUsd, knownValueUsd)}%` }} />
      </span>
    )
  },
  {
    name: "Price from",
    isNumber: true,
    cell: ({ markAtMs }) => (markAtMs === null ? <span class="soft">no price</span> : <When atMs={markAtMs} />)
  }
]

/** The value of everything that the wallet holds: the known part first, and beside it what is not in it. */
export const Worth = ({ of: { data } }: { readonly of: BalancesAnswer }) => {
  const { knownValueUsd, tokens, unvalued, valueUsd } = data.sums
  const [sol] = solOf(data)
  const hasSol = sol !== undefined && sol.amount !== "0"
  if (valueUsd === null && directionOf(knownValueUsd) === null) {
    return (
      <p>
        <strong>Value unknown</strong>
        {(hasSol || tokens > 0) && (
          <span class="soft">
            {" of "}
            {hasSol && (
              <>
                <Units amount={sol.amount} decimals={SOL_DECIMALS} /> SOL{tokens > 0 && " and "}
              </>
            )}
            {tokens > 0 && (tokens === 1 ? "one token" : `${tokens} tokens`)}. No price is known.
          </span>
        )}
      </p>
    )
  }
  return (
    <p>
      <strong>
        <Amount of={valueUsd ?? knownValueUsd} unit="usd" short />
      </strong>{" "}
      <span class="soft">
        {unvalued > 0 && "known, "}in{" "}
        {sol !== undefined && (
          <>
            <Units amount={sol.amount} decimals={SOL_DECIMALS} /> SOL and{" "}
          </>
        )}
        {tokens} tokens.
        {unvalued > 0 &&
          ` ${unvalued === 1 ? "One of them has no known price and is" : `${unvalued} of them have no known price and are`} not in it.`}
      </span>
    </p>
  )
}

const List = ({ of: { data } }: { readonly of: BalancesAnswer }) => {
  const { shown, turn } = usePaged(holdingsOf(data), ROWS, "Pages of balances")
  return (
    <>
      <Table
        isDense
        caption="Read from the chain, most valuable first."
        columns={columnsOf(data.sums)}
        rows={shown}
        keyOf={({ mint }) => mint}
      />
      {turn}
      {data.truncated && <p class="soft">Only the most valuable tokens are listed. The value counts all of them.</p>}
    </>
  )
}

/** Every token that the wallet holds. */
export const Balances = ({ read }: { readonly read: Read<BalancesAnswer> }) => (
  <section class="card" aria-labelledby="balances">
    <h2 id="balances">Balances</h2>
    <Shown read={read} what="its balances" rows={6}>
      {(answer) => <List of={answer} />}
    </Shown>
  </section>
)
