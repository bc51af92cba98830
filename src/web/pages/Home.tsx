import { useLocation } from "preact-iso"
import { useState } from "preact/hooks"
import { Launches } from "../market/Launches.tsx"
import { Movers } from "../market/Movers.tsx"
import { Overview } from "../market/Overview.tsx"
import { Venues } from "../market/Venues.tsx"
import { type Span, spans } from "../market/windows.ts"
import { Choice } from "../parts/Choice.tsx"
import { useTitle } from "../parts/useTitle.ts"
import "../style/market.css"

const MINT = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/u

/** Opens the page of any token by its address. */
const OpenToken = () => {
  const { route } = useLocation()
  const [fault, setFault] = useState("")
  const open = (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const mint = String(new FormData(form).get("mint")).trim()
    if (MINT.test(mint)) {
      route(`/t/${mint}`)
    } else {
      setFault("A mint has 32 to 44 letters and digits of base58.")
    }
  }
  return (
    <form class="row open-token" role="search" onSubmit={open} noValidate>
      <input
        name="mint"
        aria-label="Mint of a token"
        placeholder="Mint of a token"
        autocomplete="off"
        spellcheck={false}
        aria-invalid={fault !== ""}
        aria-describedby="open-fault"
      />
      <button type="submit">Open</button>
      <span id="open-fault" class="field-error" role="status">
        {fault}
      </span>
    </form>
  )
}

/** The market at a glance. */
export const Home = () => {
  useTitle("Market")
  const [span, setSpan] = useState<Span>("1h")
  return (
    <>
      <div class="row spread head">
        <h1>Market</h1>
        <OpenToken />
        <Choice label="Window" options={spans} value={span} onChange={setSpan} />
      </div>
      <div class="board">
        <Overview span={span} />
        <Movers span={span} />
        <Launches span={span} />
        <Venues span={span} />
      </div>
    </>
  )
}
