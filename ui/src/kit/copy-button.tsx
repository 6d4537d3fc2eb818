import { copy } from './toasts.tsx'

export function CopyButton({ label, text }: { label: string; text: () => string }) {
  return (
    <button type="button" onClick={() => void copy(text())}>
      {label}
    </button>
  )
}
