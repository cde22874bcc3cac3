/**
 * Loopback: answers programs and browsers of this machine over HTTP, such as those that read health and metrics of a service or a
 * worker, and the pages of a login. Knows nothing of what is answered.
 */
export {
  type LoopbackAnswer,
  type LoopbackListener,
  type LoopbackOptions,
  type LoopbackRequest,
  listenOnLoopback,
  readable,
} from './listener.ts'
export { choosePorts } from './ports.ts'
