import { useEffect } from "preact/hooks"

/** Sets the title of the document. */
export const useTitle = (title: string): void => {
  useEffect(() => {
    document.title = `${title} · Fathom`
  }, [title])
}
