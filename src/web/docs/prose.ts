// The tests read this file too, and do not include the declarations of the pages.
// oxlint-disable-next-line typescript/triple-slash-reference
/// <reference path="../files.d.ts" />
/** The pages of `docs/` that the app shows: guides, clients, what to change when coming from another service, limits and numbers. */
import client from "../../../docs/client.md?raw"
import all from "../../../docs/coming-from/README.md?raw"
import dexscreener from "../../../docs/coming-from/dexscreener.md?raw"
import geckoterminal from "../../../docs/coming-from/geckoterminal.md?raw"
import jupiter from "../../../docs/coming-from/jupiter.md?raw"
import solanatracker from "../../../docs/coming-from/solanatracker.md?raw"
import tradingview from "../../../docs/coming-from/tradingview.md?raw"
import guides from "../../../docs/guides/README.md?raw"
import alerts from "../../../docs/guides/alerts.md?raw"
import charts from "../../../docs/guides/charts.md?raw"
import cluster from "../../../docs/guides/cluster.md?raw"
import embed from "../../../docs/guides/embed.md?raw"
import firstBot from "../../../docs/guides/first-bot.md?raw"
import followWallets from "../../../docs/guides/follow-wallets.md?raw"
import mainnet from "../../../docs/guides/mainnet.md?raw"
import replayBot from "../../../docs/guides/replay-bot.md?raw"
import testABot from "../../../docs/guides/test-a-bot.md?raw"
import upgrade from "../../../docs/guides/upgrade.md?raw"
import limits from "../../../docs/limits.md?raw"
import numbers from "../../../docs/numbers.md?raw"
import sandbox from "../../../docs/sandbox.md?raw"
import { idOf } from "../parts/markdown.ts"

/** Texts by the path of their file in `docs/`. */
const files: Readonly<Record<string, string>> = {
  "client.md": client,
  "coming-from/README.md": all,
  "coming-from/dexscreener.md": dexscreener,
  "coming-from/geckoterminal.md": geckoterminal,
  "coming-from/jupiter.md": jupiter,
  "coming-from/solanatracker.md": solanatracker,
  "coming-from/tradingview.md": tradingview,
  "guides/README.md": guides,
  "guides/alerts.md": alerts,
  "guides/charts.md": charts,
  "guides/cluster.md": cluster,
  "guides/embed.md": embed,
  "guides/first-bot.md": firstBot,
  "guides/follow-wallets.md": followWallets,
  "guides/mainnet.md": mainnet,
  "guides/replay-bot.md": replayBot,
  "guides/test-a-bot.md": testABot,
  "guides/upgrade.md": upgrade,
  "limits.md": limits,
  "numbers.md": numbers,
  "sandbox.md": sandbox
}

/** The page of a file: `guides/alerts.md` is `guide-alerts`, `coming-from/jupiter.md` is `from-jupiter`. */
const pageOf = (path: string): string =>
  path
    .replace(/\/README\.md$/u, "")
    .replace(/^guides\//u, "guide-")
    .replace(/^coming-from\//u, "from-")
    .replace(/\.md$/u, "")

/** `../client.md` beside `guides/alerts.md` is `client.md`. */
const pathFrom = (path: string, link: string): string => new URL(link, `file:///${path}`).pathname.slice(1)

/** A text whose links to other pages are addresses of the app. Files that the app does not show become plain words. */
const withAddresses = (path: string, text: string): string =>
  text.replaceAll(/\[(?<label>[^\]]+)\]\((?<link>(?!\w+:|\/|#)[^)\s#]+)(?<hash>#[^)]*)?\)/gu, (...found) => {
    const { hash = "", label = "", link = "" } = found.at(-1) as Readonly<Record<string, string | undefined>>
    const target = pathFrom(path, link)
    return files[target] === undefined ? label : `[${label}](/docs/${pageOf(target)}${hash})`
  })

/** Texts by page. */
const texts: ReadonlyMap<string, string> = new Map(
  Object.entries(files).map(([path, text]) => [pageOf(path), withAddresses(path, text)])
)

/** The text of a page; undefined for any other address. */
export const proseText = (page: string): string | undefined => texts.get(page)

/** A heading with the text under it, up to the next heading. */
export interface Section {
  readonly page: string
  /** Id of the heading on its page. */
  readonly id: string
  /** The title of the page, and the heading where it is another one. */
  readonly title: string
  readonly text: string
}

const sectionsOf = (page: string, text: string): ReadonlyArray<Section> => {
  const [, title = page] = /^# (.+)$/mu.exec(text) ?? []
  // A comment in code is no heading.
  const prose = text.replaceAll(/^```[\s\S]*?^```$/gmu, (code) => code.replaceAll(/^#/gmu, " #"))
  return prose.split(/^(?=#{1,3} )/mu).flatMap((part) => {
    const [, heading] = /^#{1,3} (.+)$/mu.exec(part) ?? []
    return heading === undefined
      ? []
      : [
          {
            page,
            id: idOf(heading),
            title: heading === title ? title : `${title}: ${heading}`,
            text: part.slice(part.indexOf("\n") + 1)
          }
        ]
  })
}

/** Every section of every page. */
export const sections = (): ReadonlyArray<Section> => Array.from(texts, ([page, text]) => sectionsOf(page, text)).flat()
