import type { ComponentChildren } from 'preact'
import { hrefOf } from '../kit/route.ts'

interface EmulatorLinkProps {
  /** Address of the emulator's page. Undefined: the content is no link. */
  readonly emulatorUrl: string | undefined
  readonly id: string
  readonly children: ComponentChildren
}

/** Links to an event's deliveries on the emulator's page. */
export function EmulatorLink({ emulatorUrl, id, children }: EmulatorLinkProps) {
  if (emulatorUrl === undefined) return <>{children}</>
  const url = new URL(emulatorUrl)
  url.hash = hrefOf(['deliveries'], { event: id })
  return (
    <a href={url.href} title="Deliveries in the emulator">
      {children}
    </a>
  )
}
