/**
 * Loopback: answers programs of this machine over HTTP, such as those that read health and metrics of a service or a worker. Knows
 * nothing of what is answered.
 */
export { type LoopbackAnswer, type LoopbackListener, listenOnLoopback } from './listener.ts'
