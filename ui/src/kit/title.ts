import { signal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'

/** What a page shows besides its place, as in "evt_1 · Ackhook emulator". */
export const openTitle = signal('')

/** Names in the window's title what is open, while the component is mounted. */
export function useTitle(title: string): void {
  useLayoutEffect(() => {
    openTitle.value = title
    return () => {
      openTitle.value = ''
    }
  }, [title])
}
