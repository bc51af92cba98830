import { useState } from "preact/hooks"
import { unitsOf } from "../data/amounts.ts"
import type { Answer } from "../data/contract.ts"
import { call } from "../data/request.ts"
import { useAction } from "../data/useAction.ts"
import { Units } from "../parts/Figure.tsx"
import { Amount, textOf } from "../parts/Amount.tsx"
import { Failed, Loading } from "../parts/States.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import type { Counterpart } from "./counterpart.ts"
import { TypedField } from "./TypedField.tsx"

type ExitCheck = Extract<Answer<"POST /api/v1/spot/exit-check">, { readonly rungs: unknown }>
type Rung = ExitCheck["rungs"][number]

const verdicts: Readonly<Record<ExitCheck["summary"]["verdict"], string>> = {
  clean: "All of it sells within 2 %.",
  thin: "It sells, but not all within 2 %.",
  trapped: "Liquidity runs out before the whole position is sold.",
  no_route: "None of it can be sold now."
}

const errors = { no_route: "no route", clamped: "liquidity runs out" } as const

const PERCENT = 100

/** Width of a bar in percent of the widest bar; null when the impact was not measured. */
const widthOf = (impactPct: number | null, widest: number): number | null =>
  impactPct === null ? null : widest === 0 ? 0 : (PERCENT * Math.max(0, impactPct)) / widest

/** The impact of one rung as a bar. The bar is full when the rung cannot be sold. */
const Bar = ({ rung, widest }: { readonly rung: Rung; readonly widest: number }) => {
  const isLost = rung.error !== null
  const width = isLost ? PERCENT : (widthOf(rung.realizedImpactPct, widest) ?? 0)
  return (
    <svg class={isLost ? "rung lost" : "rung"} viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect class="ground" width="100" height="10" />
      <rect class="bar" width={width} height="10" />
    </svg>
  )
}

const columnsOf = (counter: Counterpart, widest: number): ReadonlyArray<Column<Rung>> => [
  { name: "Share", cell: ({ fraction }) => `${textOf(PERCENT * fraction)} %` },
  {
    name: "Proceeds",
    isNumber: true,
    cell: ({ error, outAmount }) =>
      error === null ? <Units amount={outAmount} decimals={counter.decimals} symbol={counter.symbol} /> : errors[error]
  },
  { name: "Impact drawn", isUnnamed: true, cell: (rung) => <Bar rung={rung} widest={widest} /> },
  {
    name: "Impact",
    isNumber: true,
    cell: ({ realizedImpactPct }) => <Amount of={realizedImpactPct} unit="percent" why="not measured" short />
  }
]

const Ladder = ({ check, counter }: { readonly check: ExitCheck; readonly counter: Counterpart }) => {
  const { maxCleanFraction, verdict, venues, warnings } = check.summary
  const widest = Math.max(0, ...check.rungs.map(({ realizedImpactPct }) => realizedImpactPct ?? 0))
  return (
    <>
      <p class={`verdict ${verdict}`}>
        <strong>{verdicts[verdict]}</strong>{" "}
        {maxCleanFraction !== null && maxCleanFraction < 1 && `${textOf(PERCENT * maxCleanFraction)} % does.`}
      </p>
      <Table
        caption={`Impact of each share compared with the smallest, over ${venues.length === 0 ? "no venue" : venues.join(", ")}`}
        columns={columnsOf(counter, widest)}
        rows={check.rungs}
        keyOf={({ fraction }) => String(fraction)}
      />
      {warnings.length > 0 && <p class="note">{warnings.map((text) => text.replace(/^[a-z_]+: /u, "")).join(" ")}</p>}
    </>
  )
}

/** Checks how much of a position can be sold, share by share. */
export const ExitLadder = ({ counter, token }: { readonly token: Counterpart; readonly counter: Counterpart }) => {
  const [position, setPosition] = useState("1000")
  const [isTried, setTried] = useState(false)
  const [check, setCheck] = useState<ExitCheck | null>(null)
  const { failure, isBusy, run } = useAction()
  const { fault, units } = unitsOf(position, token.decimals)
  const positionFault = fault ?? (units === 0n ? "Enter more than zero." : null)
  const ask = (event: SubmitEvent) => {
    event.preventDefault()
    setTried(true)
    if (units !== null && positionFault === null) {
      const body = {
        mint: token.mint,
        quoteMint: counter.mint,
        amount: String(units),
        decimals: token.decimals,
        quoteDecimals: counter.decimals
      }
      run(
        () => call("POST /api/v1/spot/exit-check", { body }),
        (answer) => "rungs" in answer && setCheck(answer)
      )
    }
  }
  return (
    <section class="card" aria-labelledby="exit">
      <h2 id="exit">Exit ladder</h2>
      <form class="quote-form" onSubmit={ask} noValidate>
        <TypedField
          label={
            <>
              Position in <bdi>{token.symbol}</bdi>
            </>
          }
          value={position}
          onInput={setPosition}
          fault={isTried ? positionFault : null}
        />
        <button type="submit" class="main" disabled={isBusy}>
          Check the exit
        </button>
      </form>
      <div class="quote-result" aria-live="polite">
        {failure !== null && <Failed failure={failure} />}
        {check !== null && <Ladder check={check} counter={counter} />}
        {check === null && isBusy && <Loading what="the exit ladder" />}
        {check === null && !isBusy && <p class="soft">Shows what selling parts of a position would bring now.</p>}
      </div>
    </section>
  )
}
