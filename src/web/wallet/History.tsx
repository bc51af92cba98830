/** Realized profit and value of a wallet by UTC day, as drawings and as a table. */
import { useState } from "preact/hooks"
import type { Answer } from "../data/contract.ts"
import { useRead } from "../data/useRead.ts"
import { Amount, textOf } from "../parts/Amount.tsx"
import { SelectField } from "../parts/Field.tsx"
import { written } from "../parts/numbers.ts"
import { Empty, Shown } from "../parts/States.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { daysDrawn } from "./days.ts"
import { knownPart } from "./knownPart.ts"

type Day = Answer<"GET /api/v1/wallets/:wallet/pnl/history">["data"]["days"][number]

const READ_MS = 60_000
const WIDTH = 600
const HEIGHT = 100
/** Share of a day's width that its bar fills, and the most that a bar is wide. */
const FILLED = 0.8
const WIDEST = 60

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
    cell: ({ knownRealized, realized }) => (
      <Amount of={realized ?? knownPart(knownRealized)} unit="usd" signed why={WHY_REALIZED} />
    )
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

/** A UTC day as the reader writes dates. */
const dayText = (day: string | undefined): string =>
  day === undefined
    ? ""
    : new Date(`${day}T00:00:00Z`).toLocaleDateString(undefined, { day: "numeric", month: "short", timeZone: "UTC" })

/** What a day's bar stands for: the amount, or its known part where the rest is unknown. */
interface Measure {
  readonly amount: string | null
  readonly isPart: boolean
}

const realizedOf = ({ knownRealized, realized }: Day): Measure => ({
  amount: realized ?? knownPart(knownRealized),
  isPart: realized === null
})

const valueOf = ({ valueUsd }: Day): Measure => ({ amount: valueUsd, isPart: false })

const measureWords = ({ amount, isPart }: Measure): string =>
  amount === null ? "unknown" : `${dollars(amount)}${isPart ? " known, the rest unknown" : ""}`

const toneOf = ({ amount, isPart }: Measure, signed: boolean): string => {
  if (amount === null) {
    return "missing"
  }
  return `${signed ? (amount.startsWith("-") ? "lost" : "won") : "held"}${isPart ? " part" : ""}`
}

/** Names of the axes: amounts beside the bars, days below them. */
const axisText = (amount: number): string => written(textOf(amount, 4), "usd", { short: true })

/**
 * Amounts by day as bars between axes. A day with an unknown amount is a pale column of full height; a pale bar is the
 * known part of an amount.
 */
const Drawn = ({
  days,
  measureOf,
  name,
  signed
}: {
  readonly days: ReadonlyArray<Day>
  readonly name: string
  readonly signed: boolean
  readonly measureOf: (day: Day) => Measure
}) => {
  const measures = days.map(measureOf)
  const amounts = measures.map(({ amount }) => amount)
  const { bars, bottom, top, zero } = daysDrawn(amounts, HEIGHT)
  const step = WIDTH / days.length
  return (
    <figure class="days">
      <figcaption>{name}</figcaption>
      <div class="axis-y" aria-hidden="true">
        {top > 0 && <span style={{ top: "0" }}>{axisText(top)}</span>}
        <span style={{ top: `${zero}%` }}>$0</span>
        {bottom < 0 && <span style={{ top: "100%" }}>{axisText(bottom)}</span>}
      </div>
      <svg
        class="day-bars"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={wordsOf(name, days, amounts)}
      >
        <line class="line" x1={0} x2={WIDTH} y1={0} y2={0} />
        <line class="line" x1={0} x2={WIDTH} y1={HEIGHT} y2={HEIGHT} />
        {days.map((day, place) => {
          const [bar, measure] = [bars[place] ?? null, measures[place] ?? { amount: null, isPart: false }]
          return (
            <rect
              key={day.day}
              class={toneOf(measure, signed)}
              x={place * step}
              y={bar?.y ?? 0}
              width={Math.min(WIDEST, step * FILLED)}
              height={bar?.height ?? HEIGHT}
            >
              <title>{`${day.day}: ${measureWords(measure)}`}</title>
            </rect>
          )
        })}
        <line class="zero" x1={0} x2={WIDTH} y1={zero} y2={zero} />
      </svg>
      <div class="axis-x soft" aria-hidden="true">
        <span>{dayText(days[0]?.day)}</span>
        {days.length > 2 && <span>{dayText(days[Math.floor(days.length / 2)]?.day)}</span>}
        <span>today (UTC)</span>
      </div>
    </figure>
  )
}

const Days = ({ of: days }: { readonly of: ReadonlyArray<Day> }) => {
  if (days.length === 0) {
    return <Empty>No trade of this wallet is stored, so there are no days to show.</Empty>
  }
  const isUnknown = (measureOf: (day: Day) => Measure) => days.every((day) => measureOf(day).amount === null)
  return (
    <>
      {isUnknown(realizedOf) && isUnknown(valueOf) && (
        <Empty>
          Neither profit nor value is known on any of these {days.length} days: what the wallet held before the record
          begins has no known cost, and some of what it holds has no known amount or price.
        </Empty>
      )}
      <div class="stack">
        <Drawn name="Realized profit" days={days} measureOf={realizedOf} signed />
        <Drawn name="Value" days={days} measureOf={valueOf} signed={false} />
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
