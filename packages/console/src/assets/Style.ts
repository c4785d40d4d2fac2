/** The console's one stylesheet. Colours are those of the service's other pages, and follow the system's light or dark. */

/** The classes `h1` … of the heights of bars and the widths of segments. */
export const SIZES = 32

export const STYLE = `
:root{color-scheme:light dark;
--ground:light-dark(#f4f5f7,#14181d);--card:light-dark(#fff,#1b2027);--ink:light-dark(#1c2430,#e6eaf0);--soft:light-dark(#566170,#a3afbd);
--line:light-dark(#dde1e7,#323a44);--hover:light-dark(#eef1f5,#242b34);--mark:light-dark(#1f7a4d,#5cc792);--link:light-dark(#1d5fbf,#86b6ff);
--pick:light-dark(#dbe8fb,#223a5c);--bad:light-dark(#b3261e,#ff9c92);--badbg:light-dark(#fdecea,#3a1e1c);--warn:light-dark(#8a5a00,#f0c069);
--mono:ui-monospace,"SF Mono",Menlo,Consolas,"Liberation Mono",monospace}
:root[data-theme=light]{color-scheme:light}:root[data-theme=dark]{color-scheme:dark}
*{box-sizing:border-box}
th,td,dd,li,b,a,code,option,h1,h2,summary,small{unicode-bidi:isolate}
html{scroll-padding-top:4rem;-webkit-text-size-adjust:100%}
body{margin:0;min-height:100svh;background:var(--ground);color:var(--ink);font:14px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
body.wide{height:100svh;display:flex;flex-direction:column}
a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}
:focus-visible{outline:2px solid var(--link);outline-offset:2px;border-radius:3px}
h1{font-size:1.25rem;line-height:1.3;margin:0;overflow-wrap:anywhere}h2{font-size:1rem;margin:0 0 .5rem}
h1+:is(section,form,.facts,.box){margin-top:1rem}h1 .badge{font-size:.65em;font-weight:500;vertical-align:.2em}.card>:last-child{margin-bottom:0}details+.row,details+button{margin-top:.6rem}summary{padding:.15rem 0}h1:focus{outline:0}main:focus{outline:0}
p{margin:0 0 .5rem}main{overflow-wrap:break-word}label:has(>[name=confirm]){overflow-wrap:anywhere}small{display:block;color:var(--soft)}
code,pre,.mono{font-family:var(--mono);font-size:.92em}
.soft{color:var(--soft)}.soft a{text-decoration:underline}.n{text-align:right;font-variant-numeric:tabular-nums}
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
.page main{max-width:72rem;margin:0 auto;padding:1.25rem 1rem 4rem}@media(min-width:100rem){.page main{max-width:90rem}}
.wide main{flex:1;min-height:0;display:flex;flex-direction:column}
.head{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:center;justify-content:space-between;margin-bottom:1rem}
.card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:1rem;margin-bottom:1rem;overflow-wrap:break-word}
.card.flush{padding:0;overflow:hidden}
.empty{padding:3rem 1rem;text-align:center;color:var(--soft)}.empty h2{color:var(--ink);font-size:1.1rem}
.box{display:flex;gap:.6rem;padding:.7rem .9rem;border:1px solid var(--line);border-radius:8px;margin-bottom:1rem;background:var(--card);overflow-wrap:anywhere}
.box p{margin:0}.box .i{margin-top:.2em}.box.error{border-color:var(--bad);background:var(--badbg)}.box.error>.i{color:var(--bad)}.box.good{border-color:var(--mark)}
button,.button,select,input,textarea{font:inherit;color:inherit}
button,.button{display:inline-flex;align-items:center;gap:.4rem;min-height:32px;padding:0 .7rem;background:var(--card);border:1px solid var(--line);border-radius:7px;cursor:pointer;white-space:nowrap;color:var(--ink)}
button:hover,.button:hover{background:var(--hover);text-decoration:none}
button.main,.button.main{background:var(--mark);border-color:var(--mark);color:light-dark(#fff,#0d1a13);font-weight:600}
.quiet{border-color:transparent;background:none}button.danger{color:var(--bad)}
input:not([type=checkbox],[type=radio]),select,textarea{min-height:32px;padding:0 .6rem;background:var(--card);border:1px solid light-dark(#8b95a3,#6b7684);border-radius:7px;min-width:0}
textarea{padding:.4rem .6rem}
input[type=checkbox],input[type=radio]{accent-color:var(--mark);width:16px;height:16px;margin:0;flex:none}
::placeholder{color:var(--soft);opacity:1}
.field{position:relative;display:block}.field>.i{position:absolute;left:.6rem;top:50%;translate:0 -50%;color:var(--soft)}.field>input{padding-left:1.9rem!important;width:100%}
.wrong{color:var(--bad);flex:1 0 100%;grid-column:1/-1;margin:0 0 .6rem}:not(.row)>label:has(+.wrong){margin-bottom:.35rem!important}.head:has(>form>.wrong){align-items:baseline}.wrong small{color:inherit}[aria-invalid=true]:is(input,select,textarea){border-color:var(--bad);outline-color:var(--bad)}form:not(:has([name=body_kind]>:is([value=template],[value=form]):checked)) .templated{display:none}fieldset:has(>*>[value=all]:checked)>.inset{display:none}.above{align-items:center;justify-content:space-between}.wide .above{margin:.6rem 1rem 0}.menu:not([popover]){position:static;order:9;flex:0 0 100%;max-width:none;max-height:none;box-shadow:none;border-radius:10px}.menu:not([popover])>:is(form,fieldset){max-width:34rem}button:has(+.menu:not([popover])){display:none}@media(min-width:42.01rem){:is(.top,.head)>:has(>.menu:not([popover])){display:contents}:is(.head>:is(h1,h2),.top>p):has(~* .menu:not([popover]),~.menu:not([popover])){margin-right:auto}}
fieldset{border:0;padding:0;margin:0 0 .75rem;min-width:0}.row>fieldset{flex:1 0 100%;margin:0}legend{font-weight:600;padding:0;margin-bottom:.35rem}
.choice{display:flex;align-items:center;gap:.5rem;min-height:28px}.choice>:is(bdi,span){min-width:0;overflow-wrap:anywhere}.wrap>details{max-width:100%;min-width:0}.form .choice+:is(label:not(.choice),button){margin-top:.6rem}.form .ends{margin-bottom:.6rem}
.find{min-width:14rem}
table.list{width:100%;border-collapse:collapse}
.list caption{text-align:left;padding:.7rem 1rem .4rem;font-weight:600}
.list th,.list td{text-align:left;padding:.5rem 1rem;border-top:1px solid var(--line);font-weight:400;overflow-wrap:anywhere;vertical-align:top}
.list thead th{color:var(--soft);font-size:.85rem;padding-block:.3rem;border-top:0}
.list thead th{white-space:nowrap}.list tbody th a{font-weight:550}.list tbody tr:hover{background:var(--hover)}
.card:not(.flush) .list:not(.flush>*) :is(th,td):first-child{padding-left:0}.list .n{text-align:right;white-space:nowrap}.list td:has(>form){padding-block:.15rem}
dl.facts{display:grid;grid-template-columns:fit-content(40%) 1fr;gap:.25rem 1rem;margin:0 0 1rem}.facts dt{color:var(--soft);min-width:5rem;overflow-wrap:anywhere}.facts dd{margin:0;overflow-wrap:anywhere;min-width:0}
.top{display:flex;flex-wrap:wrap;align-items:center;gap:.25rem .75rem;padding:.6rem 1rem .3rem}.top>p{margin:0 auto 0 0}h1>button{font-weight:inherit;margin-left:-.7rem;white-space:normal;text-align:start}h1+.menu+p{margin-left:-.5rem}.item[aria-current]{font-weight:600;background:var(--pick)}.acts{display:flex;gap:.4rem;margin:0}.acts:not(:popover-open){position:static;inset:auto;width:auto;height:auto;padding:0;border:0;overflow:visible;background:none;color:inherit}.more{display:none}
.tools{display:flex;flex-wrap:wrap;gap:.4rem;padding:.3rem 1rem .5rem;position:relative}.tools>.field{flex:1 1 14rem;max-width:26rem}.tools>.wrong{order:8;margin:0}.tools>.field:has(+.wrong){margin:0!important}
.chips{display:flex;flex-wrap:wrap;gap:.35rem;list-style:none;margin:0;padding:0 1rem .5rem;align-items:center}
.chip{display:flex;align-items:center;background:var(--pick);border-radius:99px;max-width:100%}.chip span{padding:.15rem 0 .15rem .7rem;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}.chip b{font-weight:600}
.chip a{display:flex;align-items:center;justify-content:center;width:28px;height:28px;color:inherit;flex:none;border-radius:99px}
.empty .chips{justify-content:center;color:var(--ink);margin-top:.75rem}
.note{padding:0 1rem}
.menu,.acts:popover-open{inset:auto;margin:4px 0;text-align:start;padding:.75rem;border:1px solid var(--line);border-radius:10px;background:var(--card);color:var(--ink);box-shadow:0 8px 30px rgb(0 0 0/.18);min-width:12rem;max-width:min(34rem,calc(100vw - 1rem));max-height:min(32rem,80svh);overflow:auto;position-area:block-end span-inline-end;position-try-fallbacks:block-end span-inline-start,block-start span-inline-end}
@supports not (position-area:block-end){.menu{inset:0;margin:auto;width:fit-content;height:fit-content}}
.clipped{max-width:14rem;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}.parts{padding-bottom:.4rem;gap:1rem}.tools>.button{max-width:100%;min-width:0}.clipped{min-width:0}.menu-page .scroll{columns:14rem;overflow-wrap:anywhere}.menu-page p:last-child{margin:0}
:is(.menu,.menu-page) label:not(.choice,.copy){display:grid;gap:.2rem;margin-bottom:.6rem}.menu .copy{display:block;font-weight:600;margin:.5rem 0 .2rem}
.item{display:flex;align-items:center;gap:.55rem;min-height:32px;padding:0 .4rem;border-radius:6px;color:var(--ink)}.item:hover{background:var(--hover);text-decoration:none}
.menu>p:last-child{margin:.6rem 0 0}
.ask{width:26rem;white-space:normal;text-align:start}.ask:focus{outline:0}.ask p{margin:0 0 .75rem;overflow-wrap:anywhere}
.menu .row>.mono{min-width:min(22rem,60vw)}.menu .scroll{max-height:50svh;overflow:auto}
.filter{display:grid;grid-template-columns:repeat(3,minmax(0,1fr));gap:.35rem;margin-bottom:.35rem}.join{grid-column:1/-1;width:auto;justify-self:start}.sorting{display:flex;gap:.35rem;margin-bottom:.35rem}.sorting>select{flex:1;min-width:0}
.row{display:flex;gap:.4rem;align-items:center}.row>input{flex:1}
.wrap{flex-wrap:wrap}.grow{flex:1 1 14rem;min-width:0}.top-row{align-items:flex-start}.card label.grow,.form label:not(.choice){display:grid;gap:.2rem;margin:0 0 .6rem}.form{max-width:34rem}.card>.form{max-width:none;display:grid;grid-template-columns:repeat(auto-fit,minmax(min(22rem,100%),1fr));gap:0 1rem;align-items:end}.card>.form>:not(label),.form>.choice{grid-column:1/-1;justify-self:start;max-width:100%}.form+p{margin-top:1rem}.card.row{align-items:flex-end}.card.row label{margin:0}.card.row{margin-bottom:1rem}
.done::after{content:" ✓";color:var(--mark)}
.ends{align-items:flex-end}.row label:not(.choice,.field,.copy){display:grid;gap:.2rem;margin:0}.tools>input{flex:1 1 10rem}.ends+:is(details,.ends){margin-top:.6rem}.links{margin-top:1rem}
.tabs{margin:-.4rem 0 1rem;border-bottom:1px solid var(--line);overflow-x:auto;scrollbar-width:none}.tabs ul{display:flex;list-style:none;margin:0;padding:0}.tabs a{display:block;padding:.4rem .75rem;color:var(--soft);white-space:nowrap;border-bottom:2px solid transparent;max-width:18rem;overflow:hidden;text-overflow:ellipsis}.tabs a:hover{color:var(--ink);text-decoration:none}.tabs a:focus-visible{outline-offset:-3px}.tabs [aria-current]{color:var(--ink);font-weight:600;border-color:var(--mark)}
[hidden]{display:none!important}.list thead td{border-top:0}.marked{padding:.25rem 0;margin:-.4rem 0 .25rem;position:sticky;top:0;z-index:3;background:var(--ground)}.mark{width:2rem;padding-right:0!important}.right{justify-content:flex-end}.inset{padding-left:1.5rem;max-height:14rem;overflow:auto}.tight{padding:0}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:.75rem;list-style:none;padding:0;margin:0 0 1.25rem}.tile{display:grid;gap:.1rem;padding:.75rem 1rem;background:var(--card);border:1px solid var(--line);border-radius:10px;color:var(--ink);height:100%}.tile:hover{background:var(--hover);text-decoration:none}.tile b{font-size:1.5rem;font-weight:600;line-height:1.2;font-variant-numeric:tabular-nums}.tile span{color:var(--soft)}.tile.bad b{color:var(--bad)}.tile.warn b{color:var(--warn)}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(22rem,100%),1fr));gap:.75rem;margin-bottom:1.25rem;align-items:start}.charts .card{margin:0}.figure b{font-size:1.5rem;font-weight:600;line-height:1.2;font-variant-numeric:tabular-nums}.figure .list th,.figure .list td{padding-inline:.25rem;white-space:normal}
.chart{display:block;width:100%;height:5rem;fill:var(--mark)}.chart .bad{fill:var(--bad)}.chart .hit{fill:transparent}.chart g:hover .hit{fill:var(--hover)}.chart path{stroke:var(--line);vector-effect:non-scaling-stroke}.spark{width:6rem;height:1.3rem}.chart .none{fill:var(--line)}
.stacks{height:7rem}.stacks .good{fill:var(--mark)}.stacks .warn{fill:var(--warn)}.stacks a:is(:hover,:focus-visible) .hit{fill:var(--hover)}.stacks a:focus-visible{outline-offset:-2px}
.attempted{display:grid;grid-template-columns:minmax(0,2fr) repeat(auto-fit,minmax(12rem,1fr));gap:1rem 1.5rem}.attempted h3{font-size:.85rem;font-weight:400;color:var(--soft);margin:.2rem 0 .3rem}.attempted .facets{margin:0}.attempted .facet{grid-template-columns:minmax(0,1fr) auto 2.5rem;&>:first-child{display:flex;align-items:baseline;white-space:normal;overflow-wrap:anywhere;line-height:1.2}}.attempted .facet meter{width:2.5rem}.attempted .facet[aria-current]{background:var(--pick)}.dot{display:inline-block;flex:none;width:9px;height:9px;border-radius:3px;margin-right:.5rem;background:var(--bad)}.dot.good{background:var(--mark)}.dot.quiet{background:var(--line)}.dot.warn{background:var(--warn)}
.attempts{display:block;width:100%;height:auto;max-height:2.5rem;margin-top:.6rem}.attempts path{stroke:var(--line);stroke-width:2}.attempts .good{fill:var(--mark)}.attempts .warn{fill:var(--warn)}.attempts .bad{fill:var(--bad)}.attempts .next{fill:var(--card);stroke:var(--soft);stroke-width:2;stroke-dasharray:3 2.2}.axis.plain{border:0}
.axis{display:flex;gap:.6rem;justify-content:space-between;border-top:1px solid var(--line);margin:0 0 .4rem;padding-top:.15rem;color:var(--soft);font-size:.85em}
.box:has(>.button){flex-wrap:wrap}.box:has(>.button)>p{flex:1 1 14rem}.box>.button{align-self:center}.card>*+.box{margin-top:.8rem}.card>.box:last-child{margin-bottom:0}.box.warn{border-color:var(--warn)}.box.warn>.i{color:var(--warn)}
.begin ol{padding-left:1.25rem;margin:.25rem 0 1rem}.begin li{margin:.25rem 0}
.facets{list-style:none;margin:0 0 .4rem;padding:0;max-height:18rem;overflow:auto}.facet{display:grid;grid-template-columns:minmax(0,1fr) auto 5rem;gap:.6rem;align-items:center;min-height:28px;padding:0 .4rem;border-radius:6px;color:var(--ink)}a.facet:hover{background:var(--hover);text-decoration:none}.facet>:first-child{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}.facet b{font-weight:500;font-variant-numeric:tabular-nums}.facet meter{width:5rem;height:10px}.facet meter::-webkit-meter-optimum-value{background:var(--soft)}.facet meter::-moz-meter-bar{background:var(--soft)}
kbd{font:500 .85em var(--mono);padding:.1rem .4rem;border:1px solid var(--line);border-bottom-width:2px;border-radius:5px;background:var(--ground)}.out{display:grid;align-content:center;justify-items:center;background:radial-gradient(60rem 24rem at 50% 0,light-dark(#e3f3ea,#18301f),transparent) no-repeat var(--ground);& .brand{font-size:1.25rem;margin:0}& .brand .i{width:28px;height:28px}& main{width:min(26rem,100%);margin:0;padding:1.25rem 1rem;text-align:center}& h1{font-size:1.5rem}& .card,& .box{text-align:start}& .card{padding:1.5rem}& .card .main{width:100%;min-height:40px;justify-content:center}}.sheet{inset:0;margin:auto;position-area:none;width:min(30rem,calc(100vw - 1rem));height:fit-content}.sheet,#add-address,#add-poll{max-height:90svh!important}.sheet .facts{margin:0;grid-template-columns:minmax(0,9rem) 1fr}.help{border-radius:99px;min-width:28px;justify-content:center;color:var(--soft)}
.palette{width:min(38rem,calc(100vw - 1rem));max-width:none;margin:10svh auto auto;padding:0;border:1px solid var(--line);border-radius:12px;background:var(--card);color:var(--ink);box-shadow:0 12px 50px rgb(0 0 0/.3);&::backdrop{background:rgb(10 15 20/.35)}&>.row{padding:.6rem;border-bottom:1px solid var(--line)}& .field{flex:1}& [role=listbox]{max-height:min(28rem,60svh);overflow:auto;padding:.25rem .6rem .6rem}& small{padding:.6rem .4rem .2rem}& a{display:flex;flex-wrap:wrap;gap:0 .6rem;padding:.35rem .4rem;border-radius:6px;color:var(--ink);overflow-wrap:anywhere;text-decoration:none}& a:hover{background:var(--hover)}& [aria-selected]{background:var(--pick)}& p{margin:.6rem .4rem}& bdi{min-width:0}}.plain{list-style:none;margin:0 -.4rem;padding:0;& bdi{min-width:0;overflow-wrap:anywhere}}
#export{max-width:27rem}:is(#add-address,#add-poll)[popover]{inset:0;margin:auto;position-area:none;width:min(34rem,calc(100vw - 1rem));height:fit-content;outline:0}
[aria-busy=true]{opacity:.5}
::file-selector-button{font:inherit;margin-right:.6rem;padding:.1rem .6rem;border:1px solid var(--line);border-radius:5px;background:var(--hover);color:inherit}input[type=file]{padding:.2rem .3rem}progress{width:100%;accent-color:var(--mark)}.card>.row+details{margin:.6rem 0}
.head>:is(h2,form){margin:0}section>.head{margin-bottom:.5rem}
.open{padding:0 .3rem}
.mini{min-height:24px;padding:0 .25rem;color:var(--soft)}
.grid{flex:1;min-height:0;overflow:auto;position:relative;border-block:1px solid var(--line);background:var(--card);overscroll-behavior:contain}
.grid:focus-visible{outline-offset:-2px}
.grid table{border-collapse:separate;border-spacing:0;table-layout:fixed;width:0;min-width:100%}
.grid th{position:sticky;top:0;z-index:2;background:var(--card);text-align:left;font-weight:600;height:36px;padding:0;border-bottom:1px solid var(--line)}
.grid thead tr:first-child th:not(.o)::after{content:"";position:absolute;inset:0 0 0 auto;width:7px;cursor:col-resize}.grid thead tr:first-child th:hover::after{background:linear-gradient(var(--line),var(--line)) 100%/2px 100% no-repeat}.grid th div{display:flex;align-items:center;gap:.1rem;padding:0 .2rem 0 .6rem}
.grid th .sort{display:flex;align-items:center;gap:.25rem;color:inherit;flex:1;min-width:0;min-height:32px}.grid th .mini{min-height:24px}.grid th span:not(.hide){overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.grid th.n .sort{justify-content:flex-end}
.grid td{height:30px;padding:0 .6rem;border-bottom:1px solid var(--line);overflow:hidden;text-overflow:ellipsis;white-space:nowrap;max-width:0}
.grid td:focus{outline:2px solid var(--link);outline-offset:-2px}
.grid tbody tr{background:var(--card)}.grid tbody tr:hover{background:var(--hover)}.grid tr.on,.grid tr.on:hover{background:var(--pick)}
.grid .n{text-align:right}.grid .j{font-family:var(--mono);font-size:.88em;color:var(--soft)}
.z::after,.e::after{color:var(--soft);font:.72em var(--mono)}.z::after{content:"NULL"}.e::after{content:"“ ”"}
.cut{display:block;max-height:24lh;overflow:hidden}.cut:has(+details[open]){max-height:none}.scroller{overflow-x:auto}.scroller td{white-space:nowrap}.tall{display:block;max-height:24lh;overflow:auto}
.grid .o{padding:0;text-align:center}.grid .o a{display:block;line-height:29px;color:var(--soft);font-size:1.1rem}
.grid :is(.o,.p){position:sticky;left:0;z-index:1}.grid td:is(.o,.p){background:inherit}.grid .p{left:30px;box-shadow:1px 0 var(--line)}.grid tbody .p{font-weight:500}.grid thead :is(.o,.p){z-index:3!important}#pictures td.p{background:var(--card)}
.grid td>i{display:inline-block;max-width:100%;padding:0 .5rem;border-radius:99px;background:light-dark(#e9edf2,#2b333d);font-style:normal;line-height:20px;overflow:hidden;text-overflow:ellipsis;vertical-align:middle}
@media(min-width:42.01rem){.compact .grid td{height:24px}.compact .grid .o a{line-height:23px}.compact .list :is(th,td){padding-block:.2rem}}
.grid .gap td{padding:0;border:0;height:0}
.w0{width:30px}.w6{width:calc(5.4ch + 1.6rem)}.w8{width:calc(7.2ch + 1.6rem)}.w10{width:calc(9ch + 1.6rem)}.w13{width:calc(11.7ch + 1.6rem)}.w16{width:calc(14.4ch + 1.6rem)}.w20{width:calc(18ch + 1.6rem)}.w25{width:calc(22.5ch + 1.6rem)}.w32{width:calc(28.8ch + 1.6rem)}.w40{width:calc(36ch + 1.6rem)}.w46{width:calc(41.4ch + 1.6rem)}
#pictures td{position:sticky;top:36px;z-index:2;height:56px;padding:.25rem .6rem .2rem;background:var(--card);vertical-align:top}#pictures .o{padding:.2rem 0}
.bars,.segments{display:flex;gap:1px;height:32px}.segments{gap:2px;height:12px;margin:12px 0 8px}
.bars>*{flex:1;min-width:1px;background:linear-gradient(var(--mark),var(--mark)) bottom/100% calc(var(--h,0)*1px) no-repeat}.segments>*{flex:var(--h) 1 3px;background:var(--mark);border-radius:2px}
.bars{user-select:none}.bars>a:hover{background-color:var(--hover)}.bars>.in{background-color:var(--pick)}.stacks .in .hit{fill:var(--pick)}.segments>a:hover{filter:brightness(1.2)}.segments :nth-child(2){opacity:.8}.segments :nth-child(n+3){opacity:.62}.segments :nth-child(n+5){opacity:.42}.segments>.rest,.segments>.none{background:var(--line);opacity:1}.segments>.none{background:repeating-linear-gradient(135deg,var(--line) 0 3px,transparent 3px 6px)}
.list .segments,dd .segments{margin:5px 0}.drawn{margin-top:.4rem}.drawn .facet{grid-template-columns:minmax(0,1fr) auto}.caption{display:block;color:var(--soft);font-size:11px;line-height:16px;overflow:hidden;text-overflow:ellipsis}
${Array.from({ length: SIZES }, (_, at) => `.h${at + 1}{--h:${at + 1}}`).join("")}
.days{max-width:21rem;margin-bottom:.6rem}.foot>span:first-child:empty{display:none}@media(min-width:64rem){.foot:has(~.panel:not([hidden])){padding-right:35rem}}.foot{display:flex;justify-content:space-between;align-items:center;gap:1rem;padding:.4rem 1rem;min-height:36px;flex:none}#sum{min-width:0;overflow-wrap:anywhere}#sum:empty{display:none}
.panel{position:fixed;inset:48px 0 0 auto;width:min(34rem,100vw);background:var(--card);border-left:1px solid var(--line);box-shadow:-8px 0 30px rgb(0 0 0/.12);overflow:auto;padding:1rem;z-index:5}.panel:focus{outline:0}.panel h2{margin:0;overflow-wrap:anywhere}.panel .row{margin-bottom:.6rem}.list tbody tr.on{background:var(--pick)}[data-walk] tbody tr{cursor:pointer}.stacked[data-walk] th>:is(a,small),.why{display:-webkit-box;-webkit-line-clamp:2;-webkit-box-orient:vertical;overflow:hidden}
@media(min-width:64rem){.page main:has(.panel:not([hidden])){max-width:none;margin-right:34rem;& .wide-only{display:none}}}
.arrived{display:grid;grid-template-columns:minmax(0,3fr) minmax(14rem,1fr);gap:0 1rem;& .card{padding:.75rem 1rem}& .chart{height:2.5rem}& :is(p,.axis){margin:0}& h2{font:inherit;color:var(--soft);margin:0}& .list{max-width:24rem}}
.people{& th,& td{vertical-align:top}& th{position:relative;width:99%;max-width:0}& :is(th a,b,small){display:block;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}& th a{color:var(--ink)}& tbody :is(th a,b){font-weight:400}& .new :is(th a,b){font-weight:650}& .face{padding-right:0}& i{display:grid;place-items:center;width:34px;height:34px;border-radius:99px;background:var(--hover);color:var(--soft);font:500 .8em system-ui}& .new i{background:light-dark(#e3f3ea,#18301f);color:var(--mark)}& td small{color:var(--mark)}}
.prose{font-size:1.05em;line-height:1.6;max-width:46rem;margin:1rem 0;max-height:60svh;overflow:auto}.ruled{border-top:1px solid var(--line);padding-top:.75rem;margin-bottom:.75rem}.clamp{display:inline-block;max-width:100%;overflow:hidden;text-overflow:ellipsis;vertical-align:bottom;white-space:nowrap}.choose{display:none}.mail .foot{flex-wrap:wrap}
@media(min-width:64rem){.page main:has(.mail>.panel,.sides){max-width:90rem;margin:0 auto}.sides{display:grid;grid-template-columns:minmax(0,5fr) minmax(0,3fr);gap:1rem;align-items:start}.mail .tools{flex-wrap:nowrap;& select{flex:none;max-width:8.5rem}& .field{min-width:0}}.mail{display:grid;grid-template-columns:26rem minmax(0,1fr);gap:1rem;align-items:start}.mail .panel{position:sticky;top:1rem;inset:auto;width:auto;max-height:calc(100svh - 2rem);border:1px solid var(--line);border-radius:10px;box-shadow:none;padding:1.25rem 1.5rem;z-index:1}.mail .panel[hidden]+.choose{display:block;padding:6rem 1rem;text-align:center}}
@media(min-width:64rem)and (max-width:100rem){.page main:has(.panel:not([hidden])) .attempted>div+div{display:none}}
.beside{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(14rem,100%),1fr));gap:0 1rem;& section{min-width:0}& :is(h3,h4){font-size:1rem;margin:.4rem 0}& h4{font-size:inherit}& pre.text{max-height:14rem}& .facts{grid-template-columns:auto 1fr}& .facts dt{min-width:0}}
.value{white-space:pre-wrap;overflow-wrap:anywhere}.whole{gap:.45rem 1rem}.whole dt small{display:inline}
.text{white-space:pre-wrap;overflow-wrap:anywhere;margin:0}
.chunk{display:inline-block;width:100%;vertical-align:top;content-visibility:auto;contain-intrinsic-height:auto 150lh}
.tree{overflow-wrap:anywhere}.tree ul{list-style:none;margin:0;padding-left:1.1rem;border-left:1px solid var(--line)}.tree summary{cursor:pointer}.tree li>details{display:inline-block;vertical-align:top}.tree i{color:var(--soft);font-style:normal}.tree b{font-weight:600}.tree .s{color:light-dark(#1f6f4a,#8fd4b0)}.tree .d,.tree .k{color:var(--link)}
.badge{display:inline-block;padding:.05rem .5rem;border-radius:99px;font-size:.88em;background:var(--hover);color:var(--soft);white-space:nowrap}
.badge.good{color:var(--mark);background:light-dark(#e3f3ea,#18301f)}.badge.bad{color:var(--bad);background:var(--badbg)}.badge.warn{color:var(--warn);background:light-dark(#fdf3dc,#362a12)}
.flat{padding-left:0;padding-right:0}.tools.flat{padding-bottom:1rem}.tools select{max-width:12rem}
.live::before{content:"";width:8px;height:8px;border-radius:99px;background:var(--line)}.live.on::before{background:var(--mark)}.live.news{border-color:var(--mark);font-weight:600}
.nowrap{white-space:nowrap}
.events{table-layout:auto}.events .clip{width:99%;max-width:0}.events .clip span{display:block;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}.events th{white-space:nowrap}.events .from{max-width:12rem;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
pre.text,pre.hex{background:var(--ground);border:1px solid var(--line);border-radius:8px;padding:.7rem;max-height:24rem;overflow:auto;margin:.5rem 0}
mark{background:light-dark(#ffd9d4,#7a2a22);color:inherit;border-radius:2px;outline:1px solid var(--bad)}
details>summary{cursor:pointer}form details[open]>summary,details[open]>summary:has(+form){margin-bottom:.4rem}
@media(max-width:42rem){
.arrived{grid-template-columns:1fr 1fr;gap:.5rem;& .card{padding:.5rem .75rem;font-size:.9em}& :is(.chart,.axis,details){display:none}}
.attempted{display:block}.attempted>div+div{display:none}
.events tr{display:grid;grid-template-columns:auto auto 1fr;border-top:1px solid var(--line);padding:.35rem 0}.events thead{display:none}.events th,.events td{border:0;padding:.15rem .75rem}.events .clip{grid-column:1/-1;grid-row:2;max-width:none;width:auto;min-width:0}
.card:not(.flush) .stacked :is(th,td){padding-inline:0}.stacked thead{display:none}.stacked tr{display:block;padding:.4rem 0;border-top:1px solid var(--line)}.stacked th,.stacked td:not(.wide-only){display:block;border:0;padding:.1rem .75rem;text-align:left!important}
.stacked .mark,.stacked .mark~td:not(.wide-only){display:inline-block!important;width:auto}
.week thead{display:none}.week tr{display:grid;grid-template-columns:1fr auto;border-top:1px solid var(--line);padding:.35rem 0}.week th,.week td:not(.wide-only){border:0;padding:.15rem .75rem}.week .n::before,.stacked td[data-label]::before{content:attr(data-label) " ";color:var(--soft)}
.events .mark{width:auto}.events time{display:block;text-align:right}.events td:nth-last-child(2){grid-column:1/-1}
.tools select{flex:1 1 40%;max-width:none}.tools.flat,.foot.flat{padding-left:0;padding-right:0}
body.wide{height:auto;min-height:100svh}.wide .grid{flex:none;height:72svh}
.top,.tools,.chips,.foot,.note{padding-left:.75rem;padding-right:.75rem}.tools>.field{flex:1 1 100%;max-width:none}.field:has([form]):not(:has([aria-invalid])){display:none}
.top{display:grid;grid-template-columns:minmax(0,1fr) auto auto;gap:0 .4rem}.top>p{grid-area:2/1;font-size:.9em}.top>:is(.live,.more){display:inline-flex;grid-row:1/3}.acts{grid-column:1/-1;flex-wrap:wrap}.acts:not([popover]){margin-top:.4rem}.acts[popover]:not(:popover-open){display:none}.acts>:is(button,.button){flex:1;justify-content:center}.more:has(+.acts:not([popover])){display:none!important}
.tools>button:not(.hide){flex:1 1 auto;min-width:0;padding:0 .2rem;justify-content:center;font-size:.88em}.tools>button:has(.clipped){flex-basis:4rem}.tools>button>.i:not(:has(+.clipped)){display:none}.tools>button>span{overflow:hidden;text-overflow:ellipsis}
.menu,.acts:popover-open{position:fixed;position-area:none;inset:auto 0 0;margin:0;width:100%;max-width:none;border-radius:14px 14px 0 0}.filter{grid-template-columns:repeat(2,minmax(0,1fr))}.filter input{grid-column:1/-1}
.grid td{height:36px}.grid col.p{width:9rem}.grid .o a{line-height:35px}.panel{inset:0;width:100vw}
.attempted{grid-template-columns:minmax(0,1fr)}dl.facts{grid-template-columns:1fr;gap:0}.facts dd{margin-bottom:.6rem}
body{font-size:15px}
.bar{flex-wrap:wrap;height:auto;padding:0 .75rem;gap:.25rem .5rem}.bar .brand{min-height:44px}.bar .who{margin-left:auto;max-width:11rem}
.bar nav{order:3;flex:0 0 calc(100% + 1.5rem);margin:0 -.75rem;padding:0 .4rem}.bar li a{min-height:42px}
.wide-only{display:none}
.find,.head>form.row{flex:1 1 100%}.head>form.row{flex-wrap:wrap}.head>form.row>input{flex:1 0 100%}.head>form.row>:is(select,label){flex:1}
button,.button,select,input:not([type=checkbox],[type=radio]){min-height:40px}
}
@media(prefers-reduced-motion:no-preference){button,.button,.bar a{transition:background-color .12s}}
@media print{#pictures,.bar,.skip,.tools,.acts,.foot a,.marked,.panel,.grid .mini,.grid .gap,.grid .o{display:none}body.wide{height:auto;display:block}.grid{overflow:visible;border:0}.grid table{table-layout:auto;width:100%}.grid :is(th,.p){position:static}.grid td,.events .clip,.events .from{white-space:normal;overflow:visible;overflow-wrap:anywhere;max-width:none}.events .clip span{white-space:normal}.grid col{width:auto!important}.card,.grid tr{break-inside:avoid}.card:has(table){break-inside:auto}pre,.inset,.facets{max-height:none!important}}
`
