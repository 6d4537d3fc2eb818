import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { ConfirmDialog } from './confirm.tsx'
import { useKeys } from './keys.ts'
import { KeysButton, KeysHelp } from './keys-help.tsx'
import { go, hrefOf, route } from './route.ts'
import { Tasks } from './tasks.tsx'
import { formatCount } from './text.ts'
import { openTitle } from './title.ts'
import { Toasts } from './toasts.tsx'

export interface Place {
  /** First part of the path. */
  readonly path: string
  readonly label: string
  readonly count?: number
}

interface ShellProps {
  readonly brand: string
  readonly places: readonly Place[]
  /** Stands beside the brand, at any width. */
  readonly tool?: ComponentChildren
  readonly foot?: ComponentChildren
  readonly children: ComponentChildren
}

/** Shows the navigation beside the page. The focus moves to the page when the place changes. */
export function Shell({ brand, places, tool, foot, children }: ShellProps) {
  const main = useRef<HTMLElement>(null)
  const here = route.value.parts[0] ?? places[0]?.path ?? ''
  const where = route.value.parts.join('/')
  const before = useRef(where)
  useEffect(() => {
    if (before.current !== where) main.current?.focus()
    before.current = where
  }, [where])
  const label = places.find(place => place.path === here)?.label
  const title = [openTitle.value, label, `Ackhook ${brand}`].filter(Boolean).join(' · ')
  useEffect(() => {
    document.title = title
  }, [title])
  const numbered = places.slice(0, 9).map(({ path, label }, at) => [String(at + 1), path, label] as const)
  useKeys(
    Object.fromEntries(numbered.map(([key, path]) => [key, () => go([path])])),
    Object.fromEntries(numbered.map(([key, , label]) => [key, `opens ${label}`])),
  )
  return (
    <div class="shell">
      <a class="skip" href={`#${MAIN}`} onClick={skipTo(main)}>
        Skip to content
      </a>
      <header class="side">
        <div class="brand">
          <Logo /> Ackhook <small>{brand}</small>
        </div>
        {tool}
        <nav aria-label="Pages">
          <ul class="nav">
            {places.map(({ path, label, count }) => (
              <li key={path}>
                <a href={hrefOf([path])} aria-current={path === here ? 'page' : undefined}>
                  {label}
                  {count !== undefined && count > 0 && <span>{formatCount(count)}</span>}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div class="side-foot">
          <KeysButton />
          {foot}
        </div>
      </header>
      <main id={MAIN} class="main" tabIndex={-1} ref={main}>
        {children}
      </main>
      <Toasts>
        <Tasks />
      </Toasts>
      <ConfirmDialog />
      <KeysHelp />
    </div>
  )
}

/** A hook that is a check mark, as in docs/images/logo.svg. */
function Logo() {
  return (
    <svg class="logo" viewBox="0 0 32 32" aria-hidden="true">
      <circle cx="25" cy="7.9" r="2.6" stroke-width="2.64" />
      <path d="M23.4 10.4 15.2 22.4C13 25.6 9.4 25.3 7.4 22.2 6.2 20.3 5.6 18.3 5.2 15.9L10.6 19" />
    </svg>
  )
}

const MAIN = 'content'

/** Focuses the content without following the link, whose hash would replace the place in the address. */
function skipTo(main: { readonly current: HTMLElement | null }): (event: Event) => void {
  return event => {
    event.preventDefault()
    main.current?.focus()
  }
}
