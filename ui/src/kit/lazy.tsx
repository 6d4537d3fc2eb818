import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { Failure } from './failure.tsx'

/** Creates a page whose code loads when it is first shown, so that others start faster. */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const loaded = signal<ComponentType<Props> | undefined>(undefined)
  const error = signal<Error | undefined>(undefined)
  const start = () => {
    error.value = undefined
    load().then(
      page => {
        loaded.value = page
      },
      () => {
        error.value = new Error('The server does not respond, or its version has changed: reload the page.')
      },
    )
  }
  return props => {
    const Page = loaded.value
    useEffect(() => {
      if (loaded.peek() === undefined) start()
    }, [])
    return Page === undefined ? <Failure error={error.value} retry={start} /> : <Page {...props} />
  }
}
