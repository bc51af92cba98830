import { useState } from "preact/hooks"
import { unitsOf } from "../data/amounts.ts"
import { Choice } from "../parts/Choice.tsx"
import { Failed, Loading } from "../parts/States.tsx"
import type { Counterpart } from "./counterpart.ts"
import { QuoteResult } from "./QuoteResult.tsx"
import { TypedField } from "./TypedField.tsx"
import { type Trade, useQuote } from "./useQuote.ts"

type Side = "buy" | "sell"

const sides: ReadonlyArray<readonly [Side, string]> = [
  ["buy", "Buy"],
  ["sell", "Sell"]
]

/** Decimals that turn a percentage into basis points. */
const PERCENT_DIGITS = 2
const MOST_BPS = 1000n

/** Slippage in basis points, or what is wrong with the text. */
const slippageOf = (text: string) => {
  const { fault, units } = unitsOf(text, PERCENT_DIGITS)
  if (units === null) {
    return { bps: null, fault }
  }
  const isInside = units >= 1n && units <= MOST_BPS
  return isInside ? { bps: Number(units), fault: null } : { bps: null, fault: "Enter 0.01 to 10 percent." }
}

/** Prices a trade of the token. Amounts are typed in whole tokens and converted exactly. */
export const QuoteBox = ({ counter, token }: { readonly token: Counterpart; readonly counter: Counterpart }) => {
  const [side, setSide] = useState<Side>("buy")
  const [amount, setAmount] = useState("1")
  const [slippage, setSlippage] = useState("0.5")
  const [isLive, setLive] = useState(false)
  const [asked, setAsked] = useState<{ readonly trade: Trade; readonly side: Side } | null>(null)
  const [turn, setTurn] = useState(0)
  const [isTried, setTried] = useState(false)
  const input = side === "buy" ? counter : token
  const typed = unitsOf(amount, input.decimals)
  const amountFault = typed.fault ?? (typed.units === 0n ? "Enter more than zero." : null)
  const allowed = slippageOf(slippage)
  const { failure, quote, stream } = useQuote(asked?.trade ?? null, isLive, turn)
  const ask = (event: SubmitEvent) => {
    event.preventDefault()
    setTried(true)
    if (typed.units !== null && amountFault === null && allowed.bps !== null) {
      const output = side === "buy" ? token : counter
      const trade = {
        inputMint: input.mint,
        outputMint: output.mint,
        amount: String(typed.units),
        slippageBps: allowed.bps
      }
      setAsked({ trade, side })
      setTurn((before) => before + 1)
    }
  }
  const [paid, received] = asked?.side === "sell" ? [token, counter] : [counter, token]
  return (
    <section class="card" aria-labelledby="quote">
      <h2 id="quote">Quote</h2>
      <form class="quote-form" onSubmit={ask} noValidate>
        <Choice label="Side" options={sides} value={side} onChange={setSide} />
        <TypedField
          label={
            <>
              Amount in <bdi>{input.symbol}</bdi>
            </>
          }
          value={amount}
          onInput={setAmount}
          fault={isTried ? amountFault : null}
        />
        <TypedField
          label="Slippage in percent"
          value={slippage}
          onInput={setSlippage}
          fault={isTried ? allowed.fault : null}
        />
        <div class="row">
          <button type="submit" class="main">
            Quote
          </button>
          <label class="check">
            <input type="checkbox" checked={isLive} onChange={(event) => setLive(event.currentTarget.checked)} />
            Live
          </label>
          <span class="soft" role="status">
            {stream}
          </span>
        </div>
      </form>
      <div class="quote-result" aria-live={isLive ? "off" : "polite"}>
        {failure !== null && <Failed failure={failure} isRetrying={isLive} />}
        {quote !== null && <QuoteResult quote={quote} input={paid} output={received} />}
        {asked !== null && quote === null && failure === null && <Loading what="the quote" />}
        {asked === null && <p class="soft">The quote comes from the state of the pools; nothing is traded.</p>}
      </div>
    </section>
  )
}
