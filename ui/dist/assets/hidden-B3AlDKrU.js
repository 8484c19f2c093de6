import{E as e,F as t,G as n,J as r,R as i,ct as a,ft as o,lt as s,nt as c,p as l,r as u,rt as d}from"./disclose-version-eDqFKq5f.js";var f=class extends Error{code;data;name=`RoostError`;constructor(e,t,n){super(t),this.code=e,this.data=n}},p=class extends Error{name=`ConnectionLost`},m=class extends p{name=`NotConnected`},h=class extends m{name=`TokenRefused`},ee=2e4,g=3e4,_=5e3,v=1008,y=1,b=class{opened;lost;#e;#t=new Map;#n;#r;#i=0;#a=Date.now();constructor(e,t){this.#e=e,this.lost=new Promise(e=>this.#n=e),this.opened=new Promise((t,n)=>{e.onopen=()=>t(),this.lost.then(n)}),this.opened.catch(()=>{});let n=setInterval(()=>this.#s(),_);this.lost.then(()=>clearInterval(n)),e.onerror=e=>this.#o(new p(te(e)||`the connection failed`)),e.onclose=({code:e,reason:t})=>{let n=t||`the connection was closed with code ${e}`;this.#o(e===v?new h(n):new p(n))},e.onmessage=({data:e})=>{this.#a=Date.now();let n;try{n=JSON.parse(e)}catch{return this.close(`the other side does not speak JSON; is it a Roost daemon?`)}this.#l(n,t)}}call(e,t){if(this.#e.readyState>y&&this.#o(new p(`the connection is closing`)),this.#r)return Promise.reject(new m(this.#r.message));let n=++this.#i;return this.#c({jsonrpc:`2.0`,id:n,method:e,params:t}),new Promise((e,t)=>this.#t.set(n,{resolve:e,reject:t}))}notify(e,t){this.#c({jsonrpc:`2.0`,method:e,params:t})}close(e){this.#o(new p(e)),this.#e.close(1e3)}#o(e){this.#r??=e;for(let e of this.#t.values())e.reject(this.#r);this.#t.clear(),this.#n(this.#r)}#s(){let e=Date.now()-this.#a;e>=g?this.close(`nothing was heard from the daemon for ${g/1e3} s`):e>=ee&&this.call(`status/health`,{}).catch(()=>{})}#c(e){this.#e.readyState===y&&this.#e.send(JSON.stringify(e))}#l(e,t){let{id:n,result:r,error:i,method:a,params:o,event:s,timestamp:c,payload:l}=e;if(a?.startsWith(`event/`))return t(a.slice(6),o??{});if(s)return t(s,{...l,timestamp:c});let u=n===void 0?void 0:this.#t.get(n);n!==void 0&&u&&(this.#t.delete(n),i?u.reject(new f(i.code,i.message,i.data??{})):u.resolve(r))}};function te(e){return`message`in e?String(e.message):``}var ne=1e4;async function x(e,t,n){let r={"content-type":`application/json`};n!==void 0&&(r.authorization=`Bearer ${n}`);try{return await fetch(e,{method:`POST`,headers:r,body:JSON.stringify(t),redirect:`error`,signal:AbortSignal.timeout(ne)})}catch(t){throw new m(`no answer from ${e.origin}: ${ae(t)}`,{cause:t})}}async function S(e){let t=await e.text().catch(()=>``),n=`${new URL(e.url).origin} answered HTTP ${e.status}: ${ie(t)}`;return e.status===401?new h(n):new m(n)}async function re(e,t,n){let r={jsonrpc:`2.0`,id:1,method:`status/health`};try{let i=await x(new URL(`api/rpc`,e.replace(/^ws/,`http`)),r,t);return i.ok?n:await S(i)}catch(e){return e instanceof p?e:n}}function ie(e){try{return String(JSON.parse(e).error)}catch{return e.trim().slice(0,200)||`no reason given`}}function ae(e){let{message:t,cause:n}=e;return n?.message||n?.code||t}var C={PARSE_ERROR:-32700,INVALID_COMMAND:-32600,METHOD_NOT_FOUND:-32601,INVALID_PAYLOAD:-32602,INTERNAL_ERROR:-32603,CLAUDE_ALREADY_RUNNING:-32001,CLAUDE_NOT_RUNNING:-32002,AGENT_ERROR:-32003,AGENT_NOT_CONFIGURED:-32004,SESSION_NOT_FOUND:-32010,SESSION_INVALID:-32011,FILE_NOT_FOUND:-32020,FILE_TOO_LARGE:-32021,PATH_TRAVERSAL:-32022,FILE_READ_ERROR:-32023,DIRECTORY_NOT_FOUND:-32024,NOT_A_GIT_REPO:-32030,GIT_ERROR:-32031,GIT_CONFLICT:-32032,RATE_LIMITED:-32050,FORBIDDEN:-32051,NOT_INITIALIZED:-32052,CURSOR_TRUNCATED:-32053,WORKSPACE_NOT_FOUND:-32054,TOO_LARGE:-32055,BUSY:-32056,SHUTTING_DOWN:-32057,DISK_FULL:-32058,UNSUPPORTED_VERSION:-32059,SERVICE_NOT_FOUND:-32060,SERVICE_CONFLICT:-32061,SERVICE_FAILED:-32062},w=async()=>{throw Error("there is no WebSocket here: pass one to the client as `WebSocket`")};async function T(){return globalThis.WebSocket??w()}var E=3e4,oe=2e3;async function se(e,t,n={}){let r=t.replace(/\s/g,``),i=/^\d{6}$/.test(r)?(await D(e,`api/pair/code`,{code:r})).pairing_token:t;for(;;){let t=await D(e,`api/auth/exchange`,{pairing_token:i,name:n.name});if(t.status!==`pending_approval`)return t;await new Promise(e=>setTimeout(e,oe))}}function ce(e,t,n){return async r=>{let i=Date.parse(t.access_token_expires_at)-Date.now();return(r||i<E)&&(t=await D(e,`api/auth/refresh`,{refresh_token:t.refresh_token}),await n(t)),t.access_token}}async function D(e,t,n){let r=await x(new URL(t,e.endsWith(`/`)?e:`${e}/`),n);if(!r.ok)throw await S(r);return r.json()}var le=[.1,.5,1,2,5,10],O=1e4,ue=1e4,de=10,k=class{#e;#t=new Map;#n=new Map;#r=new Map;#i;#a;#o=new A;#s;#c;#l;#u=0;constructor(e){this.#e=e}connect({retry:e=!1}={}){return this.#c||(this.#c=this.#d(e),this.#c.catch(()=>{})),this.#c}async call(e,...[t]){return(this.#a??await this.#m()).call(e,t??{})}on(e,t){let n=this.#t.get(e)??new Set;return this.#t.set(e,n.add(t)),()=>void n.delete(t)}async subscribe(e){let t=e.format??`cdev`;return this.#b(this.#n,t,`events/subscribe`,{...e,format:t})}async unsubscribe(e){this.#n.delete(e),await this.call(`events/unsubscribe`,{format:e})}async watch(e){return this.#b(this.#r,e.session_id,`session/watch`,{...e})}async unwatch(e){this.#r.delete(e),await this.call(`session/unwatch`,{session_id:e})}close(){this.#p(new m(`the client was closed`))}async#d(e){this.#s&&(this.#o=new A),this.#s=new AbortController;let{signal:t}=this.#s;try{return await this.#h(!1,t).catch(n=>{if(!e||n instanceof h)throw n;return this.#v(M(n),t)})}catch(e){throw this.#f(e,t),e}}#f(e,t){t.aborted||(this.#p(M(e)),e instanceof h&&this.#C(()=>this.#e.onRefused?.(e)))}#p(e){this.#c=void 0,this.#a=void 0,this.#o.reject(e),this.#s?.abort(e)}async#m(){let e=this.#e.patience??de,t,n=new Promise((n,r)=>{t=setTimeout(()=>{let t=this.#l?.message??"call `connect` first";r(new m(`no connection to ${this.#e.url} within ${e} s: ${t}`))},e*1e3)});return Promise.race([this.#o.promise,n]).finally(()=>clearTimeout(t))}async#h(e,t){try{return await this.#g(e,t)}catch(n){if(e||!(n instanceof h)||typeof this.#e.token!=`function`)throw n;return this.#g(!0,t)}}async#g(e,t){let{url:n,client:r,onConnected:i}=this.#e,a=typeof this.#e.token==`function`?await this.#e.token(e):this.#e.token,o=this.#e.WebSocket??await T();if(t.throwIfAborted(),a!==void 0&&!/^[\w.~-]+$/.test(a))throw new h(`this is not an access token of Roost`);let s=new b(new o(n,a===void 0?[`roost`]:[`roost`,`bearer.${a}`]),(e,t)=>this.#S(e,t)),c=()=>s.close(`the client was closed`);t.addEventListener(`abort`,c);let l=!1,u=setTimeout(()=>{l=!0,s.close(`${n} did not answer within ${O/1e3} s`)},O);s.lost.then(()=>{clearTimeout(u),t.removeEventListener(`abort`,c)}),await s.opened.catch(async e=>{throw l||t.aborted?e:await re(n,a,e)});try{let e=await s.call(`initialize`,{protocol_version:`1.0`,client_info:r});clearTimeout(u),s.notify(`initialized`,{}),await this.#y(s),t.throwIfAborted(),this.#a=s,this.#o.resolve(s);let n=Date.now();return s.lost.then(e=>(Date.now()-n>ue&&(this.#u=0),this.#_(e,t))),this.#C(()=>i?.(e)),e}catch(e){throw s.close(`the connection could not be used`),e}}async#_(e,t){if(!t.aborted){this.#a=void 0,this.#o=new A;try{await this.#v(e,t)}catch(e){this.#f(e,t)}}}async#v(e,t){let n=this.#e.backoff??le,r=e instanceof h;for(;;){let i=n[Math.min(this.#u++,n.length-1)]??0;this.#l=e,this.#C(()=>this.#e.onLost?.(e,i)),await j(i,t);try{return await this.#h(r,t)}catch(n){if(t.aborted||n instanceof h)throw n;[e,r]=[M(n),!0]}}}async#y(e){let t=this.#n.has(`cdev`);for(let[n,r]of this.#r){let i=t?{...r,after:void 0}:r;await this.#x(e,`session/watch`,i).catch(e=>{if(!(e instanceof f)||e.code!==C.SESSION_NOT_FOUND)throw e;this.#r.delete(n)})}for(let t of this.#n.values())await this.#x(e,`events/subscribe`,{...t,name:void 0})}async#b(e,t,n,r){let i=this.#a??await this.#m();e.set(t,r);try{let e=await i.call(n,r);return r.after??=`cursor`in e?e.cursor:this.#i,e}catch(n){throw e.get(t)===r&&e.delete(t),n}}async#x(e,t,n){try{return await e.call(t,n)}catch(r){if(!(r instanceof f)||r.code!==C.CURSOR_TRUNCATED)throw r;let{session_id:i,resume_at:a,resume_cursor:o}=r.data;return this.#S(`truncated`,{session_id:i,resume_at:a}),e.call(t,{...n,after:String(o)})}}#S(e,t){for(let n of this.#t.get(e)??[])this.#C(()=>n(t));let{cursor:n,session_id:r}=t;if(typeof n!=`string`)return;let i=e===`batch`?`normalized`:`cdev`;i===`cdev`&&(this.#i=n);let a=this.#n.get(i);a&&(a.after=n);let o=this.#r.get(String(r));o&&(o.after=n)}#C(e){let t=this.#e.onError??console.error;try{let n=e();n instanceof Promise&&n.catch(t)}catch(e){t(e)}}},A=class{resolve;reject;promise=new Promise((e,t)=>{this.resolve=e,this.reject=t});constructor(){this.promise.catch(()=>{})}};function j(e,t){return new Promise((n,r)=>{t.throwIfAborted();let i=()=>{clearTimeout(a),r(t.reason)},a=setTimeout(()=>{t.removeEventListener(`abort`,i),n()},e*1e3);t.addEventListener(`abort`,i)})}function M(e){return e instanceof Error?e:Error(String(e))}var N=`roost.clients`,P=[];try{P=JSON.parse(localStorage.getItem(N)??`[]`)}catch{}function F(e){P=[...P.filter(t=>t!==e),e].slice(-200),localStorage.setItem(N,JSON.stringify(P))}var I=e=>e!==void 0&&P.includes(e),L=`0.1.0`,R=`roost.tokens`,z=`roost.tokens.lease`,B=1e4,V=18e4,H=3e4,U=location.origin;function W(){try{return JSON.parse(localStorage.getItem(R)??``)}catch{return}}function G(e){localStorage.setItem(R,JSON.stringify(e))}function K(){localStorage.removeItem(R)}async function fe(e,t){let n=await se(U,e,{name:t});return G(n),n}async function q(e){let t=W();if(!t)throw new h(`this browser is not paired`);let n=Date.parse(t.access_token_expires_at)-Date.now()>6e4;return!e&&n?t.access_token:ge(async()=>{let e=W();if(!e)throw new h(`this browser was signed out in another tab`);return e.access_token===t.access_token?ce(U,e,G)(!0):e.access_token})}function pe(){setInterval(()=>{let e=W();e&&Date.parse(e.access_token_expires_at)-Date.now()<V&&q(!0).catch(()=>{})},H)}async function me(){let e=W();if(K(),!e)return;let t=JSON.stringify({refresh_token:e.refresh_token});await fetch(`/api/auth/revoke`,{method:`POST`,headers:{"content-type":`application/json`},body:t}).catch(()=>{})}function he(e){let t=W()?.device_id;addEventListener(`storage`,()=>{let n=W()?.device_id;n!==t&&e(),t=n})}async function ge(e){if(navigator.locks)return navigator.locks.request(R,e);let t=`${Date.now()+B}.${Math.random()}`;for(;;){let e=localStorage.getItem(z);if((!e||Number.parseInt(e)<Date.now())&&(localStorage.setItem(z,t),await J(40),localStorage.getItem(z)===t))break;await J(60)}try{return await e()}finally{localStorage.removeItem(z)}}var J=e=>new Promise(t=>setTimeout(t,e)),_e=[1,2,4,8,16,30,30,30,30,30,60],Y=L,X=class{#e=d(`unpaired`);get phase(){return n(this.#e)}set phase(e){c(this.#e,e,!0)}#t=d();get asOf(){return n(this.#t)}set asOf(e){c(this.#t,e,!0)}#n=d(0);get nextTry(){return n(this.#n)}set nextTry(e){c(this.#n,e,!0)}#r=d(``);get reason(){return n(this.#r)}set reason(e){c(this.#r,e,!0)}#i=d();get hello(){return n(this.#i)}set hello(e){c(this.#i,e)}client;#a=[];get isLive(){return this.phase===`live`}get blocked(){return this.phase===`live`?``:`There is no connection to Roost now`}get scope(){return W()?.scope??`observe`}get deviceId(){return W()?.device_id??``}start(){he(()=>location.reload()),pe(),addEventListener(`online`,()=>this.retryNow()),document.addEventListener(`visibilitychange`,()=>{document.hidden||this.retryNow()}),W()&&this.open()}open(){this.phase=`connecting`;let e=new URL(`/ws`,location.href);e.protocol=location.protocol===`https:`?`wss:`:`ws:`,this.client=new k({url:e.href,token:q,client:{name:`roost-ui`,version:Y},backoff:_e,patience:.5,onConnected:e=>this.#o(e),onLost:(e,t)=>this.#c(e,t),onRefused:e=>this.#l(e)});for(let e of Z)e(this.client);this.client.connect({retry:!0}).catch(()=>{})}beforeLive(e){return this.#a.push(e),()=>this.#a=this.#a.filter(t=>t!==e)}retryNow(){this.phase===`offline`&&(this.client.close(),this.client.connect({retry:!0}).catch(()=>{}))}call(e,t){return this.client.call(e,t)}async signOut(){this.client?.close(),await me(),location.assign(`/pair`)}#o(e){this.hello=e,F(e.clientId),this.reason=``,this.phase=this.asOf?`resuming`:`connecting`;let{client:t}=this;this.#s().then(()=>{this.client===t&&this.phase!==`offline`&&this.phase!==`revoked`&&(this.phase=`live`,this.asOf=void 0)})}async#s(){let e=new Set;for(;;){let t=this.#a.filter(t=>!e.has(t));if(t.length===0)return;t.forEach(t=>e.add(t)),await Promise.allSettled(t.map(e=>e()))}}#c(e,t){this.reason=e.message,this.nextTry=Date.now()+t*1e3,!(this.phase===`connecting`&&!this.hello&&t<=1)&&(this.asOf??=new Date,this.phase=`offline`)}#l(e){this.reason=e.message,this.asOf??=new Date,this.phase=`revoked`,K()}},Z=[],Q=new X;function ve(e){Z.push(e),Q.client&&e(Q.client)}function ye(e){return e instanceof f?e.message:e instanceof m?`There is no connection to Roost now; nothing was sent`:e instanceof p?`The connection broke before Roost answered; look whether it was done`:e instanceof Error?e.message:String(e)}var be=Object.fromEntries(Object.entries({activity:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-activity"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="M22 12h-2.48a2 2 0 0 0-1.93 1.46l-2.35 8.36a.25.25 0 0 1-.48 0L9.24 2.18a.25.25 0 0 0-.48 0l-2.35 8.36A2 2 0 0 1 4.49 12H2" />
</svg>
`,arrowDown:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-arrow-down"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="M12 5v14" />
  <path d="m19 12-7 7-7-7" />
</svg>
`,arrowLeft:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-arrow-left"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="m12 19-7-7 7-7" />
  <path d="M19 12H5" />
</svg>
`,arrowUp:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-arrow-up"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="m5 12 7-7 7 7" />
  <path d="M12 19V5" />
</svg>
`,brain:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-brain"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="M12 18V5" />
  <path d="M15 13a4.17 4.17 0 01-3-4 4.17 4.17 0 01-3 4" />
  <path d="M17.707 6.294A3 3 0 1012 5a3 3 0 10-5.707 1.294" />
  <path d="M17.996 5.125a4 4 0 012.526 5.77" />
  <path d="M18 18a4 4 0 002-7.465" />
  <path d="M19.967 17.482a4 4 0 11-7.967.517 4 4 0 11-7.967-.517" />
  <path d="M6 18a4 4 0 01-2-7.465" />
  <path d="M6.004 5.125a4 4 0 00-2.526 5.77" />
</svg>
`,check:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-check"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="M20 6 9 17l-5-5" />
</svg>
`,chevronDown:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-chevron-down"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="m6 9 6 6 6-6" />
</svg>
`,chevronLeft:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-chevron-left"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="m15 18-6-6 6-6" />
</svg>
`,chevronRight:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-chevron-right"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="m9 18 6-6-6-6" />
</svg>
`,circle:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-circle"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <circle cx="12" cy="12" r="10" />
</svg>
`,circleCheck:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-circle-check"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <circle cx="12" cy="12" r="10" />
  <path d="m16 9-5.5 5.5L8 12" />
</svg>
`,circleDot:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-circle-dot"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <circle cx="12" cy="12" r="1" />
  <circle cx="12" cy="12" r="10" />
</svg>
`,circleHelp:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-circle-question-mark"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <circle cx="12" cy="12" r="10" />
  <path d="M9.09 9a3 3 0 0 1 5.83 1c0 2-3 3-3 3" />
  <path d="M12 17h.01" />
</svg>
`,circleX:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-circle-x"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <circle cx="12" cy="12" r="10" />
  <path d="m15 9-6 6" />
  <path d="m9 9 6 6" />
</svg>
`,ellipsis:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-ellipsis"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <circle cx="12" cy="12" r="1" />
  <circle cx="19" cy="12" r="1" />
  <circle cx="5" cy="12" r="1" />
</svg>
`,eye:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-eye"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="M2.062 12.348a1 1 0 0 1 0-.696 10.75 10.75 0 0 1 19.876 0 1 1 0 0 1 0 .696 10.75 10.75 0 0 1-19.876 0" />
  <circle cx="12" cy="12" r="3" />
</svg>
`,file:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-file"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="M6 22a2 2 0 0 1-2-2V4a2 2 0 0 1 2-2h8a2.4 2.4 0 0 1 1.704.706l3.588 3.588A2.4 2.4 0 0 1 20 8v12a2 2 0 0 1-2 2z" />
  <path d="M14 2v5a1 1 0 0 0 1 1h5" />
</svg>
`,fileDiff:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-file-diff"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="M6 22a2 2 0 0 1-2-2V4a2 2 0 0 1 2-2h8a2.4 2.4 0 0 1 1.704.706l3.588 3.588A2.4 2.4 0 0 1 20 8v12a2 2 0 0 1-2 2z" />
  <path d="M9 10h6" />
  <path d="M12 13V7" />
  <path d="M9 17h6" />
</svg>
`,folder:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-folder"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="M20 20a2 2 0 0 0 2-2V8a2 2 0 0 0-2-2h-7.9a2 2 0 0 1-1.69-.9L9.6 3.9A2 2 0 0 0 7.93 3H4a2 2 0 0 0-2 2v13a2 2 0 0 0 2 2Z" />
</svg>
`,folderGit:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-folder-git-2"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="M18 19a5 5 0 0 1-5-5v8" />
  <path d="M9 20H4a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2h3.9a2 2 0 0 1 1.69.9l.81 1.2a2 2 0 0 0 1.67.9H20a2 2 0 0 1 2 2v5" />
  <circle cx="13" cy="12" r="2" />
  <circle cx="20" cy="19" r="2" />
</svg>
`,gitBranch:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-git-branch"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="M15 6a9 9 0 0 0-9 9V3" />
  <circle cx="18" cy="6" r="3" />
  <circle cx="6" cy="18" r="3" />
</svg>
`,globe:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-globe"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <circle cx="12" cy="12" r="10" />
  <path d="M12 2a14.5 14.5 0 0 0 0 20 14.5 14.5 0 0 0 0-20" />
  <path d="M2 12h20" />
</svg>
`,hourglass:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-hourglass"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="M5 22h14" />
  <path d="M5 2h14" />
  <path d="M17 22v-4.172a2 2 0 0 0-.586-1.414L12 12l-4.414 4.414A2 2 0 0 0 7 17.828V22" />
  <path d="M7 2v4.172a2 2 0 0 0 .586 1.414L12 12l4.414-4.414A2 2 0 0 0 17 6.172V2" />
</svg>
`,image:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-image"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <rect width="18" height="18" x="3" y="3" rx="2" ry="2" />
  <circle cx="9" cy="9" r="2" />
  <path d="m21 15-3.086-3.086a2 2 0 0 0-2.828 0L6 21" />
</svg>
`,inbox:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-inbox"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <polyline points="22 12 16 12 14 15 10 15 8 12 2 12" />
  <path d="M5.45 5.11 2 12v6a2 2 0 0 0 2 2h16a2 2 0 0 0 2-2v-6l-3.45-6.89A2 2 0 0 0 16.76 4H7.24a2 2 0 0 0-1.79 1.11z" />
</svg>
`,loader:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-loader-circle"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="M21 12a9 9 0 1 1-6.219-8.56" />
</svg>
`,monitor:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-monitor-smartphone"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="M18 8V6a2 2 0 0 0-2-2H4a2 2 0 0 0-2 2v7a2 2 0 0 0 2 2h8" />
  <path d="M10 19v-3.96 3.15" />
  <path d="M7 19h5" />
  <rect width="6" height="10" x="16" y="12" rx="2" />
</svg>
`,octagonX:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-octagon-x"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="m15 9-6 6" />
  <path d="M2.586 16.726A2 2 0 0 1 2 15.312V8.688a2 2 0 0 1 .586-1.414l4.688-4.688A2 2 0 0 1 8.688 2h6.624a2 2 0 0 1 1.414.586l4.688 4.688A2 2 0 0 1 22 8.688v6.624a2 2 0 0 1-.586 1.414l-4.688 4.688a2 2 0 0 1-1.414.586H8.688a2 2 0 0 1-1.414-.586z" />
  <path d="m9 9 6 6" />
</svg>
`,pencil:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-pencil"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="M21.174 6.812a1 1 0 0 0-3.986-3.987L3.842 16.174a2 2 0 0 0-.5.83l-1.321 4.352a.5.5 0 0 0 .623.622l4.353-1.32a2 2 0 0 0 .83-.497z" />
  <path d="m15 5 4 4" />
</svg>
`,play:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-play"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="M5 5a2 2 0 0 1 3.008-1.728l11.997 6.998a2 2 0 0 1 .003 3.458l-12 7A2 2 0 0 1 5 19z" />
</svg>
`,plug:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-plug"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="M12 22v-5" />
  <path d="M15 8V2" />
  <path d="M17 8a1 1 0 0 1 1 1v4a4 4 0 0 1-4 4h-4a4 4 0 0 1-4-4V9a1 1 0 0 1 1-1z" />
  <path d="M9 8V2" />
</svg>
`,plus:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-plus"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="M5 12h14" />
  <path d="M12 5v14" />
</svg>
`,rotate:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-rotate-cw"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="M21 12a9 9 0 1 1-9-9c2.52 0 4.93 1 6.74 2.74L21 8" />
  <path d="M21 3v5h-5" />
</svg>
`,search:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-search"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="m21 21-4.34-4.34" />
  <circle cx="11" cy="11" r="8" />
</svg>
`,server:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-server"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <rect width="20" height="8" x="2" y="2" rx="2" ry="2" />
  <rect width="20" height="8" x="2" y="14" rx="2" ry="2" />
  <line x1="6" x2="6.01" y1="6" y2="6" />
  <line x1="6" x2="6.01" y1="18" y2="18" />
</svg>
`,square:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-square"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <rect width="18" height="18" x="3" y="3" rx="2" />
</svg>
`,terminal:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-terminal"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="M12 19h8" />
  <path d="m4 17 6-6-6-6" />
</svg>
`,trash:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-trash-2"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="M10 11v6" />
  <path d="M14 11v6" />
  <path d="M19 6v14a2 2 0 0 1-2 2H7a2 2 0 0 1-2-2V6" />
  <path d="M3 6h18" />
  <path d="M8 6V4a2 2 0 0 1 2-2h4a2 2 0 0 1 2 2v2" />
</svg>
`,triangleAlert:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-triangle-alert"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="m21.73 18-8-14a2 2 0 0 0-3.48 0l-8 14A2 2 0 0 0 4 21h16a2 2 0 0 0 1.73-3" />
  <path d="M12 9v4" />
  <path d="M12 17h.01" />
</svg>
`,wifiOff:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-wifi-off"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="M12 20h.01" />
  <path d="M8.5 16.429a5 5 0 0 1 7 0" />
  <path d="M5 12.859a10 10 0 0 1 5.17-2.69" />
  <path d="M19 12.859a10 10 0 0 0-2.007-1.523" />
  <path d="M2 8.82a15 15 0 0 1 4.177-2.643" />
  <path d="M22 8.82a15 15 0 0 0-11.288-3.764" />
  <path d="m2 2 20 20" />
</svg>
`,wrench:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-wrench"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="M14.7 6.3a1 1 0 0 0 0 1.4l1.6 1.6a1 1 0 0 0 1.4 0l3.106-3.105c.32-.322.863-.22.983.218a6 6 0 0 1-8.259 7.057l-7.91 7.91a1 1 0 0 1-2.999-3l7.91-7.91a6 6 0 0 1 7.057-8.259c.438.12.54.662.219.984z" />
</svg>
`,x:`<!-- @license lucide-static v1.62.0 - ISC -->
<svg
  class="lucide lucide-x"
  xmlns="http://www.w3.org/2000/svg"
  width="24"
  height="24"
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="2"
  stroke-linecap="round"
  stroke-linejoin="round"
>
  <path d="M18 6 6 18" />
  <path d="m6 6 12 12" />
</svg>
`}).map(([e,t])=>[e,/<svg[^>]*>([\s\S]*)<\/svg>/.exec(t)?.[1]?.trim()??``])),xe=i(`<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" class="s-1cqhs1p"></svg>`);function Se(n,i){s(i,!0);let c=u(i,`size`,3,18),d=u(i,`label`,3,``);var f=xe();e(f,()=>be[i.name],!0),o(f),r(()=>{l(f,`width`,c()),l(f,`height`,c()),l(f,`role`,d()?`img`:void 0),l(f,`aria-label`,d()||void 0),l(f,`aria-hidden`,d()?void 0:`true`)}),t(n,f),a()}var Ce=/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb]|[\u{e0000}-\u{e007f}]/gu;function $(e){return e.replace(Ce,e=>`⟨U+${e.codePointAt(0)?.toString(16).toUpperCase().padStart(4,`0`)}⟩`)}function we(e,t=200){let n=$(e.replace(/\s+/g,` `).trim());return n.length>t?`${n.slice(0,t)}…`:n}export{ye as a,q as c,I as d,p as f,Y as i,fe as l,$ as n,Q as o,m as p,Se as r,ve as s,we as t,W as u};