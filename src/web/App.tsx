/** The frame of every page: navigation, the page, and the session. */
import { LocationProvider, lazy, Route, Router } from "preact-iso"
import { SessionProvider, useSession } from "./data/session.tsx"
import { Footer } from "./frame/Footer.tsx"
import { Header } from "./frame/Header.tsx"
import { NotFound } from "./frame/NotFound.tsx"
import { Loading } from "./parts/States.tsx"

const Docs = lazy(() => import("./docs/Docs.tsx").then((page) => page.Docs))

const SignedOut = lazy(() => import("./frame/SignedOut.tsx").then((page) => page.SignedOut))

/** Pages for everybody. Each page is loaded when it is first opened. */
const publicPages = [
  ["/docs", Docs],
  ["/docs/:page", Docs],
  ["/settings/developer", lazy(() => import("./developer/Developer.tsx").then((page) => page.Developer))],
  ["/changelog", lazy(() => import("./docs/Changelog.tsx").then((page) => page.Changelog))],
  ["/sign-in", lazy(() => import("./frame/SignIn.tsx").then((page) => page.SignIn))],
  ["/status", lazy(() => import("./status/Status.tsx").then((page) => page.Status))]
] as const

/** Pages that need a session. Visitors see `SignedOut` at their addresses. */
const accountPages = [
  ["/", lazy(() => import("./market/Market.tsx").then((page) => page.Market))],
  ["/t/:mint", lazy(() => import("./token/Token.tsx").then((page) => page.Token))],
  ["/w/:wallet", lazy(() => import("./wallet/Wallet.tsx").then((page) => page.Wallet))],
  ["/tracker", lazy(() => import("./tracker/Tracker.tsx").then((page) => page.Tracker))],
  ["/alerts", lazy(() => import("./alerts/Alerts.tsx").then((page) => page.Alerts))],
  ["/copy", lazy(() => import("./copy/Copy.tsx").then((page) => page.Copy))],
  ["/callouts", lazy(() => import("./callouts/Callouts.tsx").then((page) => page.Callouts))],
  ["/perps", lazy(() => import("./perps/Perps.tsx").then((page) => page.Perps))]
] as const

/** Moves the focus to the page that opened, so that a screen reader announces it. */
const announce = () => {
  globalThis.scrollTo(0, 0)
  document.querySelector<HTMLElement>("#page")?.focus({ preventScroll: true })
}

const Pages = () => {
  const { state } = useSession()
  if (state === "unknown") {
    return <Loading what="the session" />
  }
  // The router keeps the component of the address it shows. The key replaces that component when the session changes.
  return (
    <Router key={state} onRouteChange={announce}>
      {accountPages.map(([path, page]) => (
        <Route key={path} path={path} component={state === "in" ? page : SignedOut} />
      ))}
      {publicPages.map(([path, page]) => (
        <Route key={path} path={path} component={page} />
      ))}
      <Route default component={NotFound} />
    </Router>
  )
}

export const App = () => (
  <LocationProvider>
    <SessionProvider>
      <a class="skip" href="#page">
        Skip to the page
      </a>
      <Header />
      <main id="page" tabIndex={-1}>
        <Pages />
      </main>
      <Footer />
    </SessionProvider>
  </LocationProvider>
)
