/** Compares what one hypothetical order would cost at every perpetual futures venue. */
import { useLocation, useRoute } from "preact-iso"
import { useRead } from "../data/useRead.ts"
import { type RequestFailed, urlOf } from "../data/request.ts"
import { Field, isAtFields, SelectField } from "../parts/Field.tsx"
import { textsOf } from "../parts/Form.tsx"
import { Shown } from "../parts/States.tsx"
import { useTitle } from "../parts/useTitle.ts"
import { Best } from "./Best.tsx"
import { FundingHistory } from "./Funding.tsx"
import { useMarkets } from "./markets.ts"
import { Excluded, Venues } from "./Venues.tsx"

const READ_MS = 15_000

interface Order {
  readonly symbol: string
  readonly side: string
  readonly size: string
  readonly holdHours: string
}

const sides = [
  ["buy", "Buy (long)"],
  ["sell", "Sell (short)"]
] as const

const fields = ["symbol", "side", "size", "holdHours"]

/** A symbol as the API writes it: capitals, but for markets of builders, whose names have both. */
const symbolOf = (text: string): string => (text.includes(":") ? text : text.toUpperCase())

const SYMBOLS = "perps-symbols"

/** What is missing among the symbols to choose from, in a sentence; null when nothing is. */
const missingWords = ({ isUnknown, missing }: ReturnType<typeof useMarkets>): string | null =>
  isUnknown
    ? "The list of markets cannot be read right now; a symbol can be typed."
    : missing.length === 0
      ? null
      : `The markets of ${missing.join(", ")} cannot be read right now and are not in the list.`

const OrderForm = ({
  failure,
  markets,
  order
}: {
  readonly order: Order
  readonly markets: ReturnType<typeof useMarkets>
  readonly failure: RequestFailed | null
}) => {
  const missing = missingWords(markets)
  const { route } = useLocation()
  const submit = (event: Event) => {
    const text = textsOf(event)
    route(
      urlOf(
        "GET /perps",
        {},
        {
          symbol: symbolOf(text("symbol")),
          side: text("side"),
          size: text("size"),
          holdHours: text("holdHours")
        }
      )
    )
  }
  return (
    <form class="grid" onSubmit={submit}>
      <Field
        label="Symbol"
        name="symbol"
        hint="Such as BTC or SOL; xyz:TSLA for a market of a builder on Hyperliquid."
        failure={failure}
      >
        {(attributes) => (
          <>
            <input {...attributes} required autocomplete="off" list={SYMBOLS} defaultValue={order.symbol} />
            <datalist id={SYMBOLS}>
              {markets.choices.map(({ symbol, venues }) => (
                <option key={symbol} value={symbol} label={`${symbol}: ${venues}`} />
              ))}
            </datalist>
          </>
        )}
      </Field>
      <SelectField
        label="Side"
        name="side"
        failure={failure}
        options={sides}
        value={order.side === "sell" ? "sell" : "buy"}
      />
      <Field label="Size" name="size" hint="In coins." failure={failure}>
        {(attributes) => (
          <input {...attributes} required inputMode="decimal" autocomplete="off" defaultValue={order.size} />
        )}
      </Field>
      <Field label="Hours held" name="holdHours" hint="0 to 8760." failure={failure}>
        {(attributes) => (
          <input {...attributes} required inputMode="decimal" autocomplete="off" defaultValue={order.holdHours} />
        )}
      </Field>
      {missing !== null && <p class="soft wide">{missing}</p>}
      <div class="row wide">
        <button class="main" type="submit">
          Compare
        </button>
      </div>
    </form>
  )
}

/** The comparison for the order in the address. */
export const Perps = () => {
  useTitle("Perps")
  const { holdHours = "8", side = "buy", size = "1", symbol = "BTC" } = useRoute().query
  const order = { symbol, side, size, holdHours }
  const markets = useMarkets()
  const read = useRead("GET /api/v1/perps/quote", { query: order }, READ_MS)
  const isRefused = read.failure !== null && read.answer === null && isAtFields(read.failure, fields)
  return (
    <div class="stack">
      <section class="card">
        <h1>Perps</h1>
        <p class="soft">
          What an order would cost at each venue: the fee, the price impact in its order book, and funding while the
          position is held. No order is placed.
        </p>
        <OrderForm key={JSON.stringify(order)} order={order} markets={markets} failure={read.failure} />
      </section>
      {isRefused ? null : (
        <Shown read={read} what="the venues" rows={8}>
          {(answer) => (
            <>
              <Best of={answer} />
              <Venues side={answer.query.side} entries={answer.perVenue.filter(({ reason }) => reason === null)} />
              <Excluded entries={answer.perVenue.filter(({ reason }) => reason !== null)} />
              <FundingHistory
                symbol={answer.query.symbol}
                venues={answer.perVenue.map(({ venue }) => venue).toSorted()}
                first={answer.bestPick?.venue ?? "hl"}
              />
            </>
          )}
        </Shown>
      )}
    </div>
  )
}
