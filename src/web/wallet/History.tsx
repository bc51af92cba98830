/** Realized profit and value of a wallet by UTC day, as drawings and as a table. */
import { useState } from "preact/hooks"
import type { Answer } from "../data/contract.ts"
import { useRead } from "../data/useRead.ts"
import { Amount } from "../parts/Amount.tsx"
import { SelectField } from "../parts/Field.tsx"
import { written } from "../parts/numbers.ts"
import { Empty, Shown } from "../parts/States.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { daysDrawn } from "./days.ts"

type Day = Answer<"GET /api/v1/wallets/:wallet/pnl/history">["data"]["days"][number]

const READ_MS = 60_000
const WIDTH = 600
const HEIGHT = 100
/** Share of a day's width that its bar fills. */
const FILLED = 0.8

const spans = [
  ["30", "30 days"],
  ["90", "90 days"],
  ["365", "365 days"]
] as const

const WHY_REALIZED = "the cost or price of something sold is unknown"
const WHY_VALUE = "a price or a balance is unknown"

const columns: ReadonlyArray<Column<Day>> = [
  { name: "Day", cell: ({ day }) => day },
  {
    name: "Realized",
    isNumber: true,
    cell: ({ realized }) => <Amount of={realized} unit="usd" signed why={WHY_REALIZED} />
  },
  {
    name: "With known cost",
    isNumber: true,
    cell: ({ knownRealized }) => <Amount of={knownRealized} unit="usd" signed />
  },
  { name: "Bought for", isNumber: true, cell: ({ costUsd }) => <Amount of={costUsd} unit="usd" /> },
  { name: "Sold for", isNumber: true, cell: ({ proceedsUsd }) => <Amount of={proceedsUsd} unit="usd" /> },
  { name: "Trades", isNumber: true, cell: ({ trades }) => trades },
  {
    name: "Value at end of day",
    isNumber: true,
    cell: ({ valueUsd }) => <Amount of={valueUsd} unit="usd" why={WHY_VALUE} />
  }
]

const dollars = (amount: string): string => written(amount, "usd")

const extremesOf = (amounts: ReadonlyArray<string>): string => {
  const sorted = amounts.toSorted((one, other) => Number(one) - Number(other))
  const [least = "0"] = sorted
  return `between ${dollars(least)} and ${dollars(sorted.at(-1) ?? "0")}`
}

/** A drawing in words. */
const wordsOf = (what: string, days: ReadonlyArray<Day>, amounts: ReadonlyArray<string | null>): string => {
  const known = amounts.filter((amount) => amount !== null)
  const missing = amounts.length - known.length
  const range = known.length === 0 ? "unknown" : extremesOf(known)
  return `${what} by day from ${days[0]?.day} to ${days.at(-1)?.day}: ${range}${missing === 0 ? "" : `, unknown on ${missing} days`}.`
}

/** Amounts by day as bars. A day with an unknown amount is a pale column of full height. */
const Drawn = ({
  amountOf,
  days,
  name,
  signed
}: {
  readonly days: ReadonlyArray<Day>
  readonly name: string
  readonly signed: boolean
  readonly amountOf: (day: Day) => string | null
}) => {
  const amounts = days.map(amountOf)
  const { bars, zero } = daysDrawn(amounts, HEIGHT)
  const step = WIDTH / days.length
  return (
    <figure>
      <figcaption>{name}</figcaption>
      <svg
        class="day-bars"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={wordsOf(name, days, amounts)}
      >
        {days.map((day, place) => {
          const [bar, amount] = [bars[place] ?? null, amounts[place] ?? null]
          const lost = amount?.startsWith("-") === true
          const tone = bar === null ? "missing" : signed ? (lost ? "lost" : "won") : "held"
          return (
            <rect
              key={day.day}
              class={tone}
              x={place * step}
              y={bar?.y ?? 0}
              width={step * FILLED}
              height={bar?.height ?? HEIGHT}
            >
              <title>{`${day.day}: ${amount === null ? "unknown" : dollars(amount)}`}</title>
            </rect>
          )
        })}
        <line class="zero" x1={0} x2={WIDTH} y1={zero} y2={zero} />
      </svg>
    </figure>
  )
}

const Days = ({ of: days }: { readonly of: ReadonlyArray<Day> }) => {
  if (days.length === 0) {
    return <Empty>No trade of this wallet is stored, so there are no days to show.</Empty>
  }
  return (
    <>
      <Drawn name="Realized profit" days={days} amountOf={({ realized }) => realized} signed />
      <Drawn name="Value" days={days} amountOf={({ valueUsd }) => valueUsd} signed={false} />
      <div class="row spread soft">
        <span>{days[0]?.day}</span>
        <span>today (UTC)</span>
      </div>
      <details>
        <summary>The days as a table</summary>
        <Table caption="UTC days, newest first" columns={columns} rows={days.toReversed()} keyOf={({ day }) => day} />
      </details>
    </>
  )
}

/** Profit and value of the wallet by day. */
export const History = ({ wallet }: { readonly wallet: string }) => {
  const [days, setDays] = useState<(typeof spans)[number][0]>("30")
  const read = useRead("GET /api/v1/wallets/:wallet/pnl/history", { path: { wallet }, query: { days } }, READ_MS)
  return (
    <section class="card" aria-labelledby="history">
      <div class="head">
        <h2 id="history">Day by day</h2>
        <SelectField label="Span" name="days" options={spans} value={days} onChoose={setDays} />
      </div>
      <Shown read={read} what="its days" rows={6}>
        {({ data }) => <Days of={data.days} />}
      </Shown>
    </section>
  )
}
