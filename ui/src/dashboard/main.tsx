import { render } from 'preact'
import '../kit/tokens.css'
import '../kit/base.css'
import '../kit/kit.css'
import { Dashboard } from './dashboard.tsx'

const root = document.getElementById('app')
if (root !== null) render(<Dashboard />, root)
