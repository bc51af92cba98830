import { useLocation } from "preact-iso"
import { useSession } from "../data/session.tsx"
import logo from "./logo.svg"

const places = [
  ["/", "Market"],
  ["/tracker", "Tracker"],
  ["/alerts", "Alerts"],
  ["/copy", "Copy"],
  ["/callouts", "Callouts"],
  ["/perps", "Perps"],
  ["/docs", "Docs"],
  ["/status", "Status"]
] as const

const isAt = (path: string, place: string): boolean =>
  place === "/" ? path === "/" || path.startsWith("/t/") : path === place || path.startsWith(`${place}/`)

/** The navigation of the app. */
export const Header = () => {
  const { path } = useLocation()
  const { account, signOut, state } = useSession()
  return (
    <header class="top">
      <a class="brand" href="/">
        <img src={logo} alt="" width="28" height="28" />
        Fathom
      </a>
      <nav aria-label="Pages">
        <ul>
          {places.map(([place, name]) => (
            <li key={place}>
              <a href={place} aria-current={isAt(path, place) ? "page" : undefined}>
                {name}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="account">
        {state === "in" && account !== null ? (
          <>
            <a href="/settings/developer" aria-current={isAt(path, "/settings") ? "page" : undefined}>
              <bdi>{account.name}</bdi>
            </a>
            <button type="button" class="plain" onClick={() => signOut()}>
              Sign out
            </button>
          </>
        ) : (
          state === "out" && <a href="/sign-in">Sign in</a>
        )}
      </div>
    </header>
  )
}
