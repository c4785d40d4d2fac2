/** The console's one stylesheet. Colours are those of the service's other pages, and follow the system's light or dark. */
export const STYLE = `
:root{color-scheme:light dark;
--ground:light-dark(#f4f5f7,#14181d);--card:light-dark(#fff,#1b2027);--ink:light-dark(#1c2430,#e6eaf0);--soft:light-dark(#566170,#a3afbd);
--line:light-dark(#dde1e7,#323a44);--hover:light-dark(#eef1f5,#242b34);--mark:light-dark(#1f7a4d,#5cc792);--link:light-dark(#1d5fbf,#86b6ff);
--pick:light-dark(#dbe8fb,#223a5c);--bad:light-dark(#b3261e,#ff9c92);--badbg:light-dark(#fdecea,#3a1e1c);--warn:light-dark(#8a5a00,#f0c069);
--mono:ui-monospace,"SF Mono",Menlo,Consolas,"Liberation Mono",monospace}
*{box-sizing:border-box}
html{scroll-padding-top:4rem;-webkit-text-size-adjust:100%}
body{margin:0;min-height:100svh;background:var(--ground);color:var(--ink);font:14px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
body.wide{height:100svh;display:flex;flex-direction:column}
a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}
:focus-visible{outline:2px solid var(--link);outline-offset:2px;border-radius:3px}
h1{font-size:1.25rem;line-height:1.3;margin:0;overflow-wrap:anywhere}h2{font-size:1rem;margin:0 0 .5rem}
h1:focus{outline:0}main:focus{outline:0}
p{margin:0 0 .5rem}small{display:block;color:var(--soft)}
code,pre,.mono{font-family:var(--mono);font-size:.92em}
.soft{color:var(--soft)}.n{text-align:right;font-variant-numeric:tabular-nums}
.i{width:1em;height:1em;flex:none;vertical-align:-.125em}
.said,.hide{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.skip{position:absolute;left:8px;top:-60px;z-index:9;background:var(--card);padding:8px 14px;border:1px solid var(--line);border-radius:8px}.skip:focus{top:8px}
.bar{display:flex;align-items:center;gap:.25rem 1.25rem;padding:0 1rem;height:48px;flex:none;background:var(--card);border-bottom:1px solid var(--line)}
.brand{display:flex;align-items:center;gap:.5rem;color:var(--ink);font-weight:650;white-space:nowrap}.brand .i{width:20px;height:20px;color:var(--mark)}
.brand:hover{text-decoration:none}
.bar nav{flex:1;min-width:0;overflow-x:auto;scrollbar-width:none;align-self:stretch}
.bar ul{display:flex;gap:.15rem;list-style:none;margin:0;padding:0;height:100%}
.bar li a{display:flex;align-items:center;height:100%;padding:0 .65rem;color:var(--soft);white-space:nowrap;border-bottom:2px solid transparent;border-top:2px solid transparent}
.bar li a:hover{color:var(--ink);text-decoration:none;background:var(--hover)}
.bar a:focus-visible{outline-offset:-3px}
.bar [aria-current]{color:var(--ink);font-weight:600;border-bottom-color:var(--mark)}
.who{color:var(--ink);white-space:nowrap;max-width:16rem;overflow:hidden;text-overflow:ellipsis}.who b{font-weight:500}.who span{color:var(--soft)}
.page main{max-width:72rem;margin:0 auto;padding:1.25rem 1rem 4rem}
.wide main{flex:1;min-height:0;display:flex;flex-direction:column}
.head{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:center;justify-content:space-between;margin-bottom:1rem}
.card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:1rem;margin-bottom:1rem}
.card.flush{padding:0;overflow:hidden}
.empty{padding:3rem 1rem;text-align:center;color:var(--soft)}.empty h2{color:var(--ink);font-size:1.1rem}
.box{display:flex;gap:.6rem;padding:.7rem .9rem;border:1px solid var(--line);border-radius:8px;margin-bottom:1rem;background:var(--card);overflow-wrap:anywhere}
.box p{margin:0}.box .i{margin-top:.2em}.box.error{border-color:var(--bad);background:var(--badbg)}.box.error>.i{color:var(--bad)}.box.good{border-color:var(--mark)}
button,.button,select,input,textarea{font:inherit;color:inherit}
button,.button{display:inline-flex;align-items:center;gap:.4rem;min-height:32px;padding:0 .7rem;background:var(--card);border:1px solid var(--line);border-radius:7px;cursor:pointer;white-space:nowrap;color:var(--ink)}
button:hover,.button:hover{background:var(--hover);text-decoration:none}
button.main,.button.main{background:var(--mark);border-color:var(--mark);color:light-dark(#fff,#0d1a13);font-weight:600}
button.quiet{border-color:transparent;background:none}button.danger{color:var(--bad)}
input:not([type=checkbox],[type=radio]),select,textarea{min-height:32px;padding:0 .6rem;background:var(--card);border:1px solid light-dark(#8b95a3,#6b7684);border-radius:7px;min-width:0}
textarea{padding:.4rem .6rem}
input[type=checkbox],input[type=radio]{accent-color:var(--mark);width:16px;height:16px;margin:0;flex:none}
::placeholder{color:var(--soft);opacity:1}
.field{position:relative;display:block}.field>.i{position:absolute;left:.6rem;top:50%;translate:0 -50%;color:var(--soft)}.field>input{padding-left:1.9rem!important;width:100%}
fieldset{border:0;padding:0;margin:0 0 .75rem;min-width:0}legend{font-weight:600;padding:0;margin-bottom:.35rem}
.choice{display:flex;align-items:center;gap:.5rem;min-height:28px}
.find{min-width:14rem}
table.list{width:100%;border-collapse:collapse}
.list caption{text-align:left;padding:.7rem 1rem .4rem;font-weight:600;font-family:var(--mono);font-size:.92em}
.list th,.list td{text-align:left;padding:.5rem 1rem;border-top:1px solid var(--line);font-weight:400;overflow-wrap:anywhere;vertical-align:top}
.list thead th{color:var(--soft);font-size:.85rem;padding-block:.3rem;border-top:0}
.list tbody th a{font-weight:550}.list tbody tr:hover{background:var(--hover)}
.list .n{text-align:right;white-space:nowrap}
dl.facts{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1rem;margin:0 0 1rem}.facts dt{color:var(--soft)}.facts dd{margin:0;overflow-wrap:anywhere;min-width:0}
@media(max-width:42rem){
body{font-size:15px}
.bar{flex-wrap:wrap;height:auto;padding:0 .75rem}.bar .brand{min-height:44px}.bar .who{margin-left:auto;max-width:11rem}
.bar nav{order:3;flex:0 0 calc(100% + 1.5rem);margin:0 -.75rem;padding:0 .4rem}.bar li a{min-height:42px}
.wide-only{display:none}
.find{flex:1 1 100%}
button,.button,select,input:not([type=checkbox],[type=radio]){min-height:40px}
}
@media(prefers-reduced-motion:no-preference){button,.button,.bar a{transition:background-color .12s}}
@media print{.bar,.skip,.tools{display:none}body.wide{height:auto;display:block}}
`
