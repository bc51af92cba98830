/** Changes that a page asks for. What a page shows is read again afterwards; nothing is assumed. */
import { useCallback, useState } from "preact/hooks"
import { RequestFailed } from "./request.ts"

/** A change, its progress and its failure. */
export interface Action {
  readonly isBusy: boolean
  readonly failure: RequestFailed | null
  /** Runs a change; `done` is called with its result after a success. A second run waits for the end of the first. */
  readonly run: <A>(change: () => Promise<A>, done?: (result: A) => void) => void
  /** Forgets the failure. */
  readonly clear: () => void
}

/** A place from which changes are run, one at a time. */
export const useAction = (): Action => {
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<RequestFailed | null>(null)
  const clear = useCallback(() => setFailure(null), [])
  const run = useCallback<Action["run"]>((change, done) => {
    const attempt = async () => {
      setBusy(true)
      setFailure(null)
      try {
        const result = await change()
        done?.(result)
      } catch (cause) {
        setFailure(
          cause instanceof RequestFailed ? cause : new RequestFailed(0, "internal_error", String(cause), [], null)
        )
      }
      setBusy(false)
    }
    void attempt()
  }, [])
  return { isBusy, failure, run, clear }
}
