/** Pages for those who come from another service, from docs/coming-from. */
import all from "../../../docs/coming-from/README.md?raw"
import dexscreener from "../../../docs/coming-from/dexscreener.md?raw"
import geckoterminal from "../../../docs/coming-from/geckoterminal.md?raw"
import jupiter from "../../../docs/coming-from/jupiter.md?raw"
import solanatracker from "../../../docs/coming-from/solanatracker.md?raw"
import tradingview from "../../../docs/coming-from/tradingview.md?raw"
import { Markdown } from "../parts/Markdown.tsx"
import { useTitle } from "../parts/useTitle.ts"

const texts: Readonly<Record<string, string>> = {
  "coming-from": all,
  "from-jupiter": jupiter,
  "from-dexscreener": dexscreener,
  "from-geckoterminal": geckoterminal,
  "from-tradingview": tradingview,
  "from-solanatracker": solanatracker
}

/** True for the address of such a page. */
export const isComingFrom = (page: string): boolean => texts[page] !== undefined

/** One of these pages. Their links to each other become addresses of the app. */
export const ComingFrom = ({ page }: { readonly page: string }) => {
  const text = texts[page] ?? ""
  useTitle(/^# (.+)$/mu.exec(text)?.[1] ?? "Coming from another service")
  return (
    <article>
      <Markdown text={text.replace(/\]\((\w+)\.md\)/gu, "](/docs/from-$1)")} />
    </article>
  )
}
