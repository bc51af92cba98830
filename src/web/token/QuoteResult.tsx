import { Facts } from "../parts/Facts.tsx"
import { Units } from "../parts/Figure.tsx"
import { Amount } from "../parts/Amount.tsx"
import { PoolName, TokenLink } from "../parts/Links.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { ageWords, shortAddress, timeText } from "../parts/words.ts"
import { Fragment } from "preact"
import { stagesOf } from "./stages.ts"
import type { Counterpart } from "./counterpart.ts"
import type { Quote } from "./useQuote.ts"

type Hop = Quote["route"][number]

const fees = {
  net: "The fee of the service is taken from the proceeds.",
  principal: "The fee of the service comes on top of the input."
} as const

const whyNoImpact = ({ clamped, impactMeasurable }: Quote): string =>
  clamped ? "liquidity runs out before the amount" : impactMeasurable ? "not measured" : "below 0.1 %"

/**
 * Columns of a route. The decimals of mints between two hops are unknown here, so their amounts stay in atomic units.
 */
const columnsOf = (input: Counterpart, output: Counterpart): ReadonlyArray<Column<Hop>> => {
  const sideOf = (mint: string) => [input, output].find((each) => each.mint === mint)
  const cell = (mint: string, units: string) => (
    <Units
      amount={units}
      decimals={sideOf(mint)?.decimals ?? null}
      symbol={sideOf(mint)?.symbol ?? shortAddress(mint)}
    />
  )
  return [
    { name: "Pool", cell: ({ dex, pool }) => <PoolName dex={dex} pool={pool} /> },
    { name: "Share", isNumber: true, cell: ({ percent }) => <Amount of={percent} unit="percent" /> },
    { name: "In", isNumber: true, cell: ({ amountIn, inputMint }) => cell(inputMint, amountIn) },
    { name: "Out", isNumber: true, cell: ({ amountOut, outputMint }) => cell(outputMint, amountOut) },
    {
      name: "Impact",
      isNumber: true,
      cell: ({ priceImpactPct }) => <Amount of={priceImpactPct} unit="percent" why="not measurable" />
    }
  ]
}

const Mint = ({ mint, sides }: { readonly mint: string; readonly sides: ReadonlyArray<Counterpart> }) => (
  <span class="node">
    <TokenLink mint={mint} symbol={sides.find((each) => each.mint === mint)?.symbol ?? null} />
  </span>
)

const FULL = 100

/** The route as a drawing: a box for each pool, as high as its share. The table below it has the figures. */
const Drawn = ({
  input,
  output,
  route
}: {
  readonly route: Quote["route"]
  readonly input: Counterpart
  readonly output: Counterpart
}) => (
  <div class="route" role="group" aria-label="The route from pool to pool">
    {stagesOf(route, input.mint).map(({ hops, inputMint }) => (
      <Fragment key={inputMint}>
        <Mint mint={inputMint} sides={[input, output]} />
        <span aria-hidden="true">→</span>
        <div class="hops">
          {hops.map(({ dex, percent, pool }) => (
            <span key={pool} class="hop" title={pool} style={{ flexGrow: String(percent ?? FULL) }}>
              {dex} <span class="soft">{percent} %</span>
            </span>
          ))}
        </div>
        <span aria-hidden="true">→</span>
      </Fragment>
    ))}
    <Mint mint={output.mint} sides={[input, output]} />
  </div>
)

/** A quote in whole tokens, with its route and its age. */
export const QuoteResult = ({
  input,
  output,
  quote
}: {
  readonly quote: Quote
  readonly input: Counterpart
  readonly output: Counterpart
}) => (
  <>
    {quote.clamped && (
      <p class="field-error">The pools run out of liquidity before this amount, so you would not get this price.</p>
    )}
    <Facts
      of={[
        ["You pay", <Units amount={quote.inAmount} decimals={input.decimals} symbol={input.symbol} />],
        ["You receive", <Units amount={quote.outAmount} decimals={output.decimals} symbol={output.symbol} />],
        ["At least", <Units amount={quote.minOutAmount} decimals={output.decimals} symbol={output.symbol} />],
        [
          "Price impact",
          <>
            {quote.priceImpactPct === null ? (
              <span class="soft">{whyNoImpact(quote)}</span>
            ) : (
              <Amount of={quote.priceImpactPct} unit="percent" />
            )}
          </>
        ]
      ]}
    />
    <Drawn route={quote.route} input={input} output={output} />
    <Table caption="Route" columns={columnsOf(input, output)} rows={quote.route} keyOf={({ pool }) => pool} />
    <p class="note">
      {quote.feeBasis !== undefined && `${fees[quote.feeBasis]} `}
      <span title={timeText(quote.quotedAtMs)}>
        The chain was last heard {ageWords(quote.stateAgeMs)} before the quote. The oldest pool state is from slot{" "}
        {quote.stateSlot}.
      </span>
    </p>
  </>
)
