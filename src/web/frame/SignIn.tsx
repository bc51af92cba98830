import { useLocation } from "preact-iso"
import { useEffect, useState } from "preact/hooks"
import { useSession } from "../data/session.tsx"
import { useAction } from "../data/useAction.ts"
import { CopyText } from "../parts/CopyText.tsx"
import { Failed } from "../parts/States.tsx"
import { useTitle } from "../parts/useTitle.ts"

const COMMAND = "npm run accounts -- create me --role owner && npm run accounts -- link me"

/**
 * Opens a session with the token of a sign-in link. The token is in the fragment of the address, so that it reaches no
 * server log and no `Referer`. It is sent on a click only: programs that open links in messages would use it up.
 */
export const SignIn = () => {
  useTitle("Sign in")
  const { oidc, signIn, state } = useSession()
  const { route } = useLocation()
  const [token] = useState(() => globalThis.location.hash.slice(1))
  const { failure, isBusy, run } = useAction()
  useEffect(() => {
    if (token !== "") {
      globalThis.history.replaceState(null, "", "/sign-in")
    }
  }, [token])
  useEffect(() => {
    if (state === "in") {
      route("/", true)
    }
  }, [route, state])
  return (
    <section class="card welcome">
      <h1>Sign in</h1>
      {token !== "" && (
        <p>
          <button type="button" class="button" disabled={isBusy} onClick={() => run(() => signIn(token))}>
            Open my session
          </button>
        </p>
      )}
      {failure !== null && <Failed failure={failure} />}
      {oidc && (
        <p>
          <a class="button" href="/sign-in/oidc" target="_top">
            Sign in with your provider
          </a>
        </p>
      )}
      <p>
        A simulated market prints a sign-in link when it starts. These commands print one on the machine where the
        service runs:
      </p>
      <pre>
        <code>{COMMAND}</code>
      </pre>
      <CopyText text={COMMAND} what="the commands" />
      <p class="soft">A link works once, within 15 minutes.</p>
    </section>
  )
}
