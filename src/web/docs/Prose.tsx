/** A page of `docs/`: a guide, or what to change when coming from another service. */
import { useEffect } from "preact/hooks"
import { Markdown } from "../parts/Markdown.tsx"
import { useTitle } from "../parts/useTitle.ts"
import { proseText } from "./prose.ts"

/** Scrolls to the element that the address names, once the page shows it. */
export const useHash = (page: string) => {
  useEffect(() => {
    const id = globalThis.location.hash.slice(1)
    if (id !== "") {
      document.querySelector(`#${CSS.escape(id)}`)?.scrollIntoView()
    }
  }, [page])
}

/** The page. Links to other pages are addresses of the app. */
export const Prose = ({ page }: { readonly page: string }) => {
  const text = proseText(page) ?? ""
  useTitle(/^# (.+)$/mu.exec(text)?.[1] ?? "Guides")
  useHash(page)
  return (
    <article>
      <Markdown text={text} />
    </article>
  )
}
