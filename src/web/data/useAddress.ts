/** What a page shows, kept in its address: a reload, a link and the back button bring it back. */
import { useLocation } from "preact-iso"

/** The parameters of the address, and a way to change some of them. An empty text removes a parameter. */
export const useAddress = () => {
  const { path, query, route } = useLocation()
  const set = (changes: Readonly<Record<string, string>>): void => {
    const next = Object.entries({ ...query, ...changes }).filter(([, value]) => value !== "")
    route(next.length === 0 ? path : `${path}?${new URLSearchParams(next)}`, true)
  }
  return { query, set }
}
